"""Where a stream of frames may be cut: behind a delimiter, and nowhere else."""

from __future__ import annotations

DELIMITER = b"\0"
# Some frames' worth. What runs on for longer without a delimiter holds no frame at all.
LONGEST_FRAME_BYTES = 256


class Chunker:
    """Bytes as they come, into bytes that end with a delimiter. Changes and adds nothing."""

    def __init__(self) -> None:
        self.noise_bytes = 0
        self._rest = b""

    def feed(self, data: bytes) -> bytes:
        """As much as is whole; the rest waits for its delimiter."""
        whole, delimiter, rest = (self._rest + data).rpartition(DELIMITER)
        self._rest = rest
        return whole + delimiter

    def take_noise(self) -> bytes:
        """What waits for a delimiter and is too long for any frame: whoever wants it may look."""
        if len(self._rest) <= LONGEST_FRAME_BYTES:
            return b""
        noise, self._rest = self._rest, b""
        self.noise_bytes += len(noise)
        return noise

    def reset(self) -> None:
        """The line was closed in the middle of a frame."""
        self._rest = b""


def split(frames: bytes) -> list[bytes]:
    """Each of some whole frames, with the delimiters before and behind it: joined, they are
    ``frames`` again."""
    found = []
    before = b""
    for part in frames.split(DELIMITER)[:-1]:
        before += part + DELIMITER
        if part:
            found.append(before)
            before = b""
    return [*found, before] if before else found
