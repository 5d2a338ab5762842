"""CRSF from an RC receiver (Crossfire, ExpressLRS): 420000 baud, 8N1.

    address, length, type, payload, CRC-8

``length`` counts type, payload and CRC. The CRC's polynomial is 0xD5 (DVB-S2), over type and
payload. A receiver that has lost its transmitter falls silent, or says so by a link quality of 0.
"""

from firmware.compat import TYPE_CHECKING, micropython, ptr8
from firmware.drivers.frame_window import FrameWindow
from firmware.drivers.parts.rc_channels import PACKED_SIZE, Channels

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from machine import UART

BAUD = 420_000  # of the CRSF protocol
ADDRESSES = (0xC8, 0xEA, 0xEE)  # flight controller, handset, receiver
LONGEST = 62  # of the length byte
# Types of frame, the link's payload in bytes, and the CRC-8 of DVB-S2
TYPE_LINK = 0x14
TYPE_CHANNELS = 0x16
LINK_SIZE = 10
_POLYNOMIAL = 0xD5
_COUNT_MASK = (1 << 30) - 1
_LINK_QUALITY = 5  # from the window's start: after address, length, type and two signal levels


def crc_table() -> bytearray:
    """Return the table of each byte's CRC."""
    table = bytearray(256)
    for byte in range(256):
        crc = byte
        for _ in range(8):  # bits of the byte
            crc = crc << 1 ^ (_POLYNOMIAL if crc & 0x80 else 0)
        table[byte] = crc & 0xFF
    return table


@micropython.viper
def crc8(data: ptr8, start: int, end: int, table: ptr8) -> int:
    """Return the CRC of ``data[start:end]``."""
    crc = 0
    at = start
    while at < end:
        crc = table[crc ^ data[at]]
        at += 1
    return crc


class Crsf(FrameWindow):
    """A receiver's CRSF stream.

    ``channels`` are the latest; ``count`` is how many frames of channels, modulo 2**30, came while
    the link was up.
    """

    def __init__(self) -> None:
        super().__init__(LONGEST + 2)
        self._table = crc_table()
        self.channels = Channels()
        self.count = 0
        self.link_quality = 100  # percent; some receivers never tell
        self.is_failsafe = False

    def span(self) -> int:
        if self.window[0] not in ADDRESSES:
            return -1
        if self.size < 2:
            return 0
        length = self.window[1]
        return length + 2 if 2 <= length <= LONGEST else -1

    def take(self) -> bool:
        window = self.window
        end = 1 + window[1]
        if crc8(window, 2, end, self._table) != window[end]:
            return False
        if window[2] == TYPE_LINK and window[1] == LINK_SIZE + 2:
            self._take_link()
        elif window[2] == TYPE_CHANNELS and window[1] == PACKED_SIZE + 2:
            self._take_channels()
        return True

    def _take_link(self) -> None:
        self.link_quality = self.window[_LINK_QUALITY]
        self.is_failsafe = self.link_quality == 0

    def _take_channels(self) -> None:
        if self.is_failsafe:
            return
        self.channels.take(self.window, 3)
        self.count = self.count + 1 & _COUNT_MASK


def make(make_uart: "Callable[..., UART]", pins: "Any") -> "tuple[Crsf, UART]":
    """Make the driver; return it with the UART that it reads."""
    return Crsf(), make_uart(pins, "rc")
