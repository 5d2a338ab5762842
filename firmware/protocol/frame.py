"""Frames: COBS(payload + CRC-32, each byte of them XOR 0xA5) between zero bytes.

COBS after Cheshire and Baker (1999); the CRC is zlib's CRC-32 (polynomial 0x04C11DB7, reflected),
little endian. Payloads are full of zeros and COBS has a code for each: with the XOR (WHITENER) most
frames have one code, their first byte, which so says how much follows. A link that can only read
what it can count (boards/link.py, over USB) needs that. Written without big integers: the register
is kept as two 16-bit halves, because a 32-bit port would put the whole on the heap. All buffers are
made once, in ``__init__``.
"""

from firmware.compat import array, micropython, ptr8, ptr16
from firmware.protocol.codec import copy, read_int, write_int

DELIMITER = 0
WHITENER = 0xA5  # a byte that payloads seldom hold
CRC_SIZE = 4  # CRC-32
MAX_FRAME = 64  # on the wire, both delimiters included; also the packet size of full-speed USB
MAX_PAYLOAD = MAX_FRAME - CRC_SIZE - 3  # one COBS code byte and two delimiters

_RESIDUE = 0x2144DF1C  # the CRC over anything and its own CRC


def crc_table() -> "array[int]":
    """Return the 256 steps of the CRC as (low, high) halves: 512 entries."""
    table = array("H", bytearray(1024))  # bytes: 512 entries of two
    fill(table)
    return table


@micropython.viper
def fill(table: ptr16) -> int:
    """Fill the 512 half-words of the CRC's table: low and high half of each byte's step."""
    byte = 0
    while byte < 256:
        low = byte
        high = 0
        bit = 0
        while bit < 8:  # bits of the byte
            odd = low & 1
            low = low >> 1 | (high & 1) << 15
            high >>= 1
            if odd:
                low ^= 0x8320  # the polynomial's halves, 0xEDB88320
                high ^= 0xEDB8
            bit += 1
        table[2 * byte] = low
        table[2 * byte + 1] = high
        byte += 1
    return 0  # viper wants a word, or no annotation


@micropython.viper
def crc_update(crc: ptr8, data: ptr8, start: int, end: int, table: ptr16) -> int:
    """Carry ``crc`` (4 bytes, little endian, zero to begin with) over ``data[start:end]``."""
    low = (crc[0] | crc[1] << 8) ^ 0xFFFF
    high = (crc[2] | crc[3] << 8) ^ 0xFFFF
    at = start
    while at < end:
        step = ((low ^ data[at]) & 0xFF) * 2
        low = (low >> 8 | (high & 0xFF) << 8) ^ table[step]
        high = high >> 8 ^ table[step + 1]
        at += 1
    crc[0] = (low ^ 0xFFFF) & 0xFF
    crc[1] = (low ^ 0xFFFF) >> 8
    crc[2] = (high ^ 0xFFFF) & 0xFF
    crc[3] = (high ^ 0xFFFF) >> 8
    return 0  # viper wants a word, or no annotation


@micropython.viper
def cobs_encode(data: ptr8, size: int, out: ptr8, start: int) -> int:
    """Write ``data[:size]`` without zeros to ``out`` from ``start``; return the end."""
    code_at = start
    at = start + 1
    code = 1
    i = 0
    while i < size:
        byte = data[i] ^ 0xA5  # WHITENER: viper would look for it at each byte
        if byte:
            out[at] = byte
            at += 1
            code += 1
        if byte == 0 or (code == 255 and i + 1 < size):
            out[code_at] = code
            code_at = at
            at += 1
            code = 1
        i += 1
    out[code_at] = code
    return at


@micropython.viper
def cobs_decode(data: ptr8, size: int) -> int:
    """Decode ``data[:size]`` in place; return the decoded size, or -1 if it is not COBS."""
    source = 0
    at = 0
    while source < size:
        code = data[source]
        end = source + code
        if code == 0 or end > size:
            return -1
        source += 1
        while source < end:
            data[at] = data[source] ^ 0xA5
            at += 1
            source += 1
        if code < 255 and source < size:
            data[at] = 0xA5  # WHITENER; viper takes the bare number
            at += 1
    return at


@micropython.viper
def skip_delimiters(data: ptr8, start: int, size: int) -> int:
    """Return where the first byte of a frame is in ``data[start:size]``; ``size`` without one."""
    while start < size and data[start] == 0:
        start += 1
    return start


@micropython.viper
def copy_until_delimiter(data: ptr8, start: int, size: int, out: ptr8, at: int, room: int) -> int:
    """Copy from ``data[start:size]`` to ``out[at:room]``, up to a zero; return how many were read.

    The zero is neither copied nor counted. What has no room is read and dropped.
    """
    i = start
    while i < size and data[i]:
        if at < room:
            out[at] = data[i]
        at += 1
        i += 1
    return i - start


def _encoded_size(capacity: int) -> int:
    """Return the most that COBS makes of a payload and its CRC.

    That is one code byte, and one more for each 254 bytes.
    """
    size = capacity + CRC_SIZE
    return size + size // 254 + 1  # COBS: its code byte reaches over 254 bytes


class FrameWriter:
    """The writer of frames: wraps a payload that the caller wrote to ``payload`` into ``out``."""

    def __init__(self, table: "array[int]", capacity: int = MAX_PAYLOAD) -> None:
        self.payload = bytearray(capacity + CRC_SIZE)
        self.out = bytearray(_encoded_size(capacity) + 2)
        self._table = table
        self._crc = bytearray(CRC_SIZE)

    @micropython.native
    def wrap(self, size: int) -> int:
        """Frame ``payload[:size]`` into ``out``; return how many bytes of ``out`` to send."""
        crc = self._crc
        payload = self.payload
        out = self.out  # begins with a zero, for ever
        write_int(crc, 0, CRC_SIZE, 0)
        crc_update(crc, payload, 0, size, self._table)
        copy(crc, 0, payload, size, CRC_SIZE)
        end = cobs_encode(payload, size + CRC_SIZE, out, 1)
        out[end] = DELIMITER
        return end + 1


class FrameReader:
    """The reader of frames: finds the good ones in a stream of bytes, counts and drops all else."""

    def __init__(self, table: "array[int]", capacity: int = MAX_PAYLOAD) -> None:
        self.frame = bytearray(_encoded_size(capacity))
        self.good = 0
        self.damaged = 0
        self.oversized = 0
        self._room = len(self.frame)
        self._size = 0
        self._table = table
        self._crc = bytearray(CRC_SIZE)

    @micropython.native
    def read(self, data: bytearray, start: int, size: int) -> int:
        """Read from ``data[start:size]`` up to the end of one frame; return where it stopped.

        Afterwards ``payload_size()`` says whether ``frame`` holds a good payload.
        """
        held, room = self._size, self._room
        if held == 0:
            start = skip_delimiters(data, start, size)
        read = copy_until_delimiter(data, start, size, self.frame, held, room)
        held += read
        self._size = held if held <= room else room + 1  # remembered as "too many"
        return start + read

    @micropython.native
    def payload_size(self) -> int:
        """Return the size of the good payload in ``frame``, 0 for none; called at a delimiter."""
        size = self._size
        if size == 0:
            return 0
        self._size = 0
        if size > self._room:
            self.oversized += 1
            return 0
        size = cobs_decode(self.frame, size) - CRC_SIZE
        if size < 1 or not self._crc_matches(size):
            self.damaged += 1
            return 0
        self.good += 1
        return size

    @micropython.native
    def _crc_matches(self, size: int) -> bool:
        crc = self._crc
        write_int(crc, 0, CRC_SIZE, 0)
        crc_update(crc, self.frame, 0, size + CRC_SIZE, self._table)
        return read_int(crc, 0, CRC_SIZE, 0) == _RESIDUE
