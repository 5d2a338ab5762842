"""The cutting of a stream of frames, only after delimiters."""

from __future__ import annotations

DELIMITER = b"\0"
# The length of several frames; more bytes than this without a delimiter hold no frame.
LONGEST_FRAME_BYTES = 256


class Chunker:
    """A cutter of bytes into pieces that end with a delimiter. It changes and adds nothing."""

    def __init__(self) -> None:
        self.noise_bytes = 0
        self._rest = b""

    def feed(self, data: bytes) -> bytes:
        """Return the bytes up to the last delimiter; the rest waits for its own."""
        whole, delimiter, rest = (self._rest + data).rpartition(DELIMITER)
        self._rest = rest
        return whole + delimiter

    def take_noise(self) -> bytes:
        """Return and drop what waits for a delimiter, if it is too long for any frame."""
        if len(self._rest) <= LONGEST_FRAME_BYTES:
            return b""
        noise, self._rest = self._rest, b""
        self.noise_bytes += len(noise)
        return noise

    def reset(self) -> None:
        """Forget an incomplete frame, because the line was closed in the middle of it."""
        self._rest = b""


def split(frames: bytes) -> list[bytes]:
    """Split whole frames, each with the delimiters before and after it.

    Joined, they are ``frames`` again.
    """
    found = []
    before = b""
    for part in frames.split(DELIMITER)[:-1]:
        before += part + DELIMITER
        if part:
            found.append(before)
            before = b""
    return [*found, before] if before else found
