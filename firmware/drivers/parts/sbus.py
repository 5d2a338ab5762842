"""SBUS from an RC receiver: 100000 baud, 8E2, inverted; 25 bytes every 7 or 14 ms.

    0F, 22 bytes of channels, flags, end

It has no checksum. A frame counts only if its ends are right, its four unused flags are zero and
it follows another frame without a byte between them; so after any disturbance one frame is lost.
A damaged channel value inside a whole frame cannot be seen here: who arms by SBUS asks for several
frames that agree.
"""

from machine import UART

from firmware.compat import TYPE_CHECKING
from firmware.drivers.frame_window import FrameWindow
from firmware.drivers.parts.rc_channels import PACKED_SIZE, Channels

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

# Of the SBUS protocol: inverted, even parity, two stop bits
BAUD = 100_000
FRAME_SIZE = 25
START = 0x0F
ENDS = (0x00, 0x04, 0x14, 0x24, 0x34)  # SBUS, and SBUS2's four slots
FLAG_LOST = 0x04  # the receiver missed this frame and repeats the last
FLAG_FAILSAFE = 0x08  # no frame has come for some time: the values are the receiver's own
_COUNT_MASK = (1 << 30) - 1


class Sbus(FrameWindow):
    """A receiver's SBUS stream.

    ``channels`` are the latest; ``count`` is how many frames, modulo 2**30, came from the
    transmitter: a failsafe's or a repeated frame is none.
    """

    def __init__(self) -> None:
        super().__init__(FRAME_SIZE)
        self.channels = Channels()
        self.count = 0
        self.is_failsafe = True
        self.is_lost = True
        self._dropped_before = -1  # none has come

    def span(self) -> int:
        return FRAME_SIZE if self.window[0] == START else -1

    def take(self) -> bool:
        flags = self.window[1 + PACKED_SIZE]
        if self.window[FRAME_SIZE - 1] not in ENDS or flags & 0xF0:
            return False
        follows = self.dropped == self._dropped_before
        self._dropped_before = self.dropped
        if follows:
            self._accept(flags)
        return True

    def _accept(self, flags: int) -> None:
        self.is_failsafe = flags & FLAG_FAILSAFE != 0
        self.is_lost = flags & FLAG_LOST != 0
        if self.is_failsafe or self.is_lost:
            return
        self.channels.take(self.window, 1)
        self.count = self.count + 1 & _COUNT_MASK


def make(make_uart: "Callable[..., UART]", pins: "Any") -> "tuple[Sbus, UART]":
    """Make the driver; return it with the UART that it reads."""
    return Sbus(), make_uart(pins, "rc", parity=0, stop=2, invert=UART.INV_RX)
