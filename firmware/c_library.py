"""What CPython's own C code can do of the work of viper functions: the same bytes, sooner.

Not on boards. Under CPython ``compat`` puts these in the place of the functions of the same name,
whose own text stays at hand as ``__wrapped__``: a test holds the two against each other.
"""

from binascii import crc32

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_FULL = 254  # bytes that end a block of COBS without a zero


def crc_update(crc: bytearray, data: bytearray, start: int, end: int, table: object) -> int:
    crc[:] = crc32(data[start:end], int.from_bytes(crc, "little")).to_bytes(4, "little")
    return 0


def cobs_encode(data: bytearray, size: int, out: bytearray, start: int) -> int:
    at = start
    view = memoryview(out)  # whose slices keep their length
    pieces = data[:size].split(b"\0")
    for piece in pieces if size < _FULL else _cut(pieces):
        end = at + 1 + len(piece)
        view[at] = end - at
        view[at + 1 : end] = piece
        at = end
    return at


def _cut(pieces: "list[bytearray]") -> "list[bytearray]":
    """Where a block is full the next one begins, but not at the end."""
    cut = []
    for piece in pieces:
        while len(piece) >= _FULL:
            cut.append(piece[:_FULL])
            piece = piece[_FULL:]
        cut.append(piece)
    if pieces[-1] and not cut[-1]:
        cut.pop()
    return cut


def cobs_decode(data: bytearray, size: int) -> int:
    view = memoryview(data)
    source = at = 0
    while source < size:
        code = view[source]
        end = source + code
        if code == 0 or end > size:
            return -1
        view[at : at + code - 1] = data[source + 1 : end]
        at += code - 1
        source = end
        if code < 255 and source < size:
            view[at] = 0
            at += 1
    return at


def copy_until_delimiter(
    data: bytearray, start: int, size: int, out: bytearray, at: int, room: int
) -> int:
    end = data.find(0, start, size)
    if end < 0:
        end = size
    taken = min(end - start, room - at)
    if taken > 0:
        memoryview(out)[at : at + taken] = data[start : start + taken]
    return end - start


def copy(source: bytearray, start: int, out: bytearray, at: int, size: int) -> int:
    memoryview(out)[at : at + size] = source[start : start + size]
    return 0


# module of the functions, their counterparts
_SOONER: "tuple[tuple[str, tuple[Any, ...]], ...]" = (
    ("firmware.protocol.codec", (copy,)),
    ("firmware.protocol.frame", (crc_update, cobs_encode, cobs_decode, copy_until_delimiter)),
)


def sooner(function: "Any") -> "Any":
    """Its counterpart here, if it has one, else itself."""
    for module, counterparts in _SOONER:
        for counterpart in counterparts:
            if module == function.__module__ and counterpart.__name__ == function.__name__:
                counterpart.__wrapped__ = function
                return counterpart
    return function
