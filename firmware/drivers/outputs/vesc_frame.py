"""The frames of a VESC's serial line, and the numbers in them: big endian.

    02, length, payload, CRC-16 of the payload (high byte first), 03

Payloads here are shorter than 256 bytes. The CRC's polynomial is 0x1021, it begins with 0 and is
neither reflected nor inverted (that of XMODEM: "123456789" gives 0x31C3).
"""

from firmware.compat import array, micropython, ptr8, ptr16

# Of the VESC's short packets: start, end, and the CRC-16 of XMODEM
START = 2
END = 3
_POLYNOMIAL = 0x1021


def crc_table() -> "array[int]":
    """Return the table of each byte's CRC, 256 entries."""
    table = array("H", [0] * 256)
    for byte in range(256):
        crc = byte << 8
        for _ in range(8):  # bits of the byte
            crc = crc << 1 ^ (_POLYNOMIAL if crc & 0x8000 else 0)
        table[byte] = crc & 0xFFFF
    return table


@micropython.viper
def crc16(data: ptr8, start: int, end: int, table: ptr16) -> int:
    """Return the CRC of ``data[start:end]``."""
    crc = 0
    at = start
    while at < end:
        crc = (crc << 8 & 0xFF00) ^ table[crc >> 8 ^ data[at]]
        at += 1
    return crc


@micropython.viper
def int16_at(data: ptr8, at: int) -> int:
    value = data[at] << 8 | data[at + 1]
    if value >= 0x8000:
        value -= 0x10000
    return value


@micropython.viper
def int32_at(data: ptr8, at: int) -> int:
    """Return a 32-bit number, saturated to 30 bits and sign.

    More would be an object on the heap of a 32-bit port.
    """
    high = data[at] << 8 | data[at + 1]
    if high >= 0x8000:
        high -= 0x10000
    # Beyond 30 bits
    if high >= 0x4000:
        return 0x3FFFFFFF  # the largest
    if high < -0x4000:
        return -0x3FFFFFFF  # the smallest
    return high * 0x10000 + (data[at + 2] << 8 | data[at + 3])


@micropython.viper
def count30_at(data: ptr8, at: int) -> int:
    """Return a 32-bit count that wraps, modulo 2**30."""
    return (data[at] & 0x3F) << 24 | data[at + 1] << 16 | data[at + 2] << 8 | data[at + 3]


class FrameOut:
    """A frame of ``size`` bytes of payload, made once and written over for every command."""

    def __init__(self, command: int, size: int, table: "array[int]") -> None:
        self._table = table
        self._end = 2 + size
        self.bytes = bytearray(size + 5)  # start, length, two of CRC, end
        self.bytes[0] = START
        self.bytes[1] = size
        self.bytes[2] = command
        self.bytes[size + 4] = END
        self.seal()

    def put(self, value: int) -> None:
        """Write ``value`` to the rest of the payload, big endian, and seal the frame."""
        at = self._end
        while at > 3:
            at -= 1
            self.bytes[at] = value & 0xFF
            value >>= 8
        self.seal()

    def seal(self) -> None:
        crc = crc16(self.bytes, 2, self._end, self._table)
        self.bytes[self._end] = crc >> 8
        self.bytes[self._end + 1] = crc & 0xFF
