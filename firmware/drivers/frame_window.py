"""Finds frames in a stream of bytes that may be torn, noisy or joined in the middle.

The window holds what has come and is not decided yet; its first byte is where a frame would begin.
If none does only that byte is dropped, so that a frame that begins later in it is still found.
"""

from firmware.compat import TYPE_CHECKING, micropython, ptr8

if TYPE_CHECKING:
    from machine import UART


@micropython.viper
def move(source: ptr8, start: int, size: int, target: ptr8, at: int) -> int:
    """Copy ``source[start:start + size]`` to ``target`` from ``at``, in rising order."""
    i = 0
    while i < size:
        target[at + i] = source[start + i]
        i += 1
    return 0


class FrameWindow:
    """A window on a stream; its subclasses tell how long the frame at its start is, and take it.

    ``capacity`` is the longest frame. ``frames`` and ``dropped`` (bytes) count what was found.
    """

    def __init__(self, capacity: int) -> None:
        self.window = bytearray(capacity)
        self.size = 0
        self.frames = 0
        self.dropped = 0
        self._chunk = bytearray(64)  # bytes taken at a time; of more there is another round

    def span(self) -> int:
        """Return the size of the frame at the start: 0 if that needs more bytes, -1 for none."""
        raise NotImplementedError

    def take(self) -> bool:
        """Use the frame at the start, which is there whole; return False if it is damaged."""
        raise NotImplementedError

    def read(self, uart: "UART") -> None:
        """Read exactly as many bytes as have come, because ``readinto`` waits for more."""
        waiting = uart.any()
        while waiting > 0:
            size = uart.readinto(self._chunk, min(waiting, len(self._chunk))) or 0
            self.feed(self._chunk, size)
            waiting -= size or waiting

    def feed(self, data: bytearray, size: int) -> None:
        """Add ``data[:size]`` to the window and take each frame that is whole."""
        at = 0
        while at < size:
            more = min(size - at, len(self.window) - self.size)
            move(data, at, more, self.window, self.size)
            self.size += more
            at += more
            self._settle()

    def _settle(self) -> None:
        while self.size:
            span = self.span()
            if span == 0 or span > self.size:
                return
            if span > 0 and self.take():
                self.frames += 1
                self._drop(span)
            else:
                self.dropped += 1
                self._drop(1)

    def _drop(self, size: int) -> None:
        self.size -= size
        move(self.window, size, self.size, self.window, 0)
