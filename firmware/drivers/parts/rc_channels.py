"""Sixteen channels of eleven bits, as SBUS and CRSF both pack them, and what they mean in us."""

from firmware.compat import array, micropython, ptr8, ptr16

# As both protocols have them; 16 channels of 11 bits are 22 bytes
CHANNELS = 16
PACKED_SIZE = 22


@micropython.viper
def unpack(data: ptr8, start: int, out: ptr16) -> int:
    """Unpack 16 values of 0 to 2047 from ``data[start:start + 22]``, lowest bit first."""
    bits = 0
    held = 0
    at = start
    channel = 0
    while channel < 16:  # CHANNELS; viper takes the bare number
        while held < 11:  # bits of a channel
            bits |= data[at] << held
            held += 8  # bits of the byte
            at += 1
        out[channel] = bits & 0x7FF
        bits >>= 11
        held -= 11  # bits of a channel
        channel += 1
    return 0


class Channels:
    """Channels as pulses: 172 is 988 us, 992 is 1500 us, 1811 is 2012 us, as receivers agree."""

    def __init__(self) -> None:
        self._raw = array("H", [0] * CHANNELS)
        self.pulses_us = array("H", [0] * CHANNELS)

    def take(self, data: bytearray, start: int) -> None:
        unpack(data, start, self._raw)
        for i in range(CHANNELS):
            # 992 is the middle, and 8 counts are 5 us
            self.pulses_us[i] = 1500 + ((self._raw[i] - 992) * 5 + 4) // 8
