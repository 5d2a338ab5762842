"""CPython's own C code in place of viper and native functions: the same results, sooner.

Not on boards. Under CPython ``compat`` puts these in the place of the functions of the same name,
whose originals stay available as ``__wrapped__``; a test compares the two. They differ only where
it does not matter: after a refusal ``unpack`` and ``cobs_decode`` may leave other bytes behind,
which nobody reads; a zero within a frame is refused, which no reader lets through; ``encode_into``
and ``decode_into`` leave a message's ``values`` alone. Without the package ``cobs`` the two COBS
functions are not replaced.
"""

from binascii import crc32
from struct import Struct, error, pack_into, unpack_from

try:
    from cobs import cobs
except ImportError:  # a bare CPython runs the car too
    cobs = None

TYPE_CHECKING = False
if TYPE_CHECKING:
    from array import array
    from typing import Any

    # runs of adjacent numbers: format, offset, first, end; then all lower and all upper limits
    Plan = tuple[list[tuple[str, int, int, int]], list[int], list[int]]
    # a whole message: names, struct, and index and limits of fields narrower than their format
    Whole = tuple[list[str], Struct, list[tuple[int, int, int]]]

_PLANS: "dict[bytes, Plan]" = {}  # by the shape's bytes
_WHOLES: "dict[type, Whole]" = {}
WHITENED = bytes([byte ^ 0xA5 for byte in range(256)])  # XOR with frame.WHITENER, its own inverse
_CODES = {(1, 0): "B", (1, 1): "b", (2, 0): "H", (2, 1): "h", (4, 0): "I", (4, 1): "i"}


def crc_update(crc: bytearray, data: bytearray, start: int, end: int, table: object) -> int:
    held = crc32(data[start:end], int.from_bytes(crc, "little"))
    memoryview(crc)[:4] = held.to_bytes(4, "little")  # a view's slices keep their length
    return 0


def cobs_encode(data: bytearray, size: int, out: bytearray, start: int) -> int:
    coded = cobs.encode(bytes(data[:size]).translate(WHITENED))
    end = start + len(coded)
    memoryview(out)[start:end] = coded
    return end


def cobs_decode(data: bytearray, size: int) -> int:
    try:
        decoded = cobs.decode(data[:size])
    except cobs.DecodeError:
        return -1
    memoryview(data)[: len(decoded)] = decoded.translate(WHITENED)
    return len(decoded)


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


def pack(payload: bytearray, values: "array[int]", shape: "array[int]", many: int) -> int:
    runs, lows, highs = _plan(shape)
    numbers = list(map(min, map(max, values, lows), highs))
    for code, at, first, last in runs:
        pack_into(code, payload, at, *numbers[first:last])
    return 0


def unpack(payload: bytearray, values: "array[int]", shape: "array[int]", many: int) -> int:
    runs, lows, highs = _plan(shape)
    numbers: "list[int]" = []
    for code, at, _, _ in runs:
        numbers += unpack_from(code, payload, at)
    if numbers != list(map(min, map(max, numbers, lows), highs)):
        return 0
    for i in range(many):
        values[i] = numbers[i]
    return 1


def _plan(shape: "array[int]") -> "Plan":
    key = bytes(shape)
    if key not in _PLANS:
        _PLANS[key] = _runs(shape), list(shape[3::5]), list(shape[4::5])
    return _PLANS[key]


def _runs(shape: "array[int]") -> "list[tuple[str, int, int, int]]":
    runs: "list[tuple[str, int, int, int]]" = []
    end = -1
    # Five entries a row: at, size, signed, low, high
    for i in range(len(shape) // 5):
        at, size, signed = shape[5 * i : 5 * i + 3]  # as above
        code, since, first = "<", at, i
        if at == end:
            code, since, first, _ = runs.pop()
        runs.append((code + _CODES[size, signed], since, first, i + 1))
        end = at + size
    return runs


def encode_into(message: "Any", payload: bytearray) -> int:
    """Encode in one call of ``struct``; the original takes over where a value has to saturate."""
    names, form, checked = _whole(message)
    values = list(map(vars(message).__getitem__, names))
    try:
        for place, low, high in checked:
            if not low <= values[place] <= high:
                raise error
        form.pack_into(payload, 0, message.ID, *values)
    except (TypeError, error):
        return encode_into.__wrapped__(message, payload)  # type: ignore[attr-defined, no-any-return]
    return message.size  # type: ignore[no-any-return]


def decode_into(message: "Any", payload: bytearray, size: int) -> int:
    """Decode in one call of ``struct``; refusals and messages with texts go to the original."""
    values = _values_in(message, payload, size)
    if values is None:
        return decode_into.__wrapped__(message, payload, size)  # type: ignore[attr-defined, no-any-return]
    vars(message).update(zip(message.numbers, values))
    return 0


def decode_values_into(message: "Any", payload: bytearray, size: int) -> int:
    """Decode to ``values`` alone; refusals and messages with texts are left to the original."""
    values = _values_in(message, payload, size)
    if values is None:
        return decode_values_into.__wrapped__(message, payload, size)  # type: ignore[attr-defined, no-any-return]
    for place, value in enumerate(values):
        message.values[place] = value
    return 0


def _values_in(message: "Any", payload: bytearray, size: int) -> "tuple[int, ...] | None":
    """Return the numbers of a whole payload; None if it is refused or the message has texts."""
    if payload[0] != message.ID or size != message.size or message.texts:
        return None
    _, form, checked = _whole(message)
    values: "tuple[int, ...]" = form.unpack_from(payload)[1:]
    for place, low, high in checked:
        if not low <= values[place] <= high:
            return None
    return values


def _whole(message: "Any") -> "Whole":
    kind = type(message)
    if kind not in _WHOLES:
        rows = [(at, name, f"{size}s") for name, at, size in message.texts]
        narrow: "dict[str, tuple[int, int]]" = {}
        for i, name in enumerate(message.numbers):
            # five entries a row, as above
            at, size, signed, low, high = message.shape[5 * i : 5 * i + 5]
            rows.append((at, name, _CODES[size, signed]))
            if high - low + 1 != 1 << 8 * size:  # else struct itself refuses what is out of range
                narrow[name] = low, high
        rows.sort()
        names = [name for _, name, _ in rows]
        form = Struct("<B" + "".join([code for _, _, code in rows]))
        checked = [(names.index(name), *narrow[name]) for name in narrow]
        _WHOLES[kind] = names, form, checked
    return _WHOLES[kind]


_COBS = (cobs_encode, cobs_decode) if cobs else ()
C_COUNTERPARTS: "tuple[Any, ...]" = (
    *(copy, pack, unpack, encode_into, decode_into, decode_values_into),
    *(crc_update, copy_until_delimiter, *_COBS),
)
_BY_NAME = {counterpart.__name__: counterpart for counterpart in C_COUNTERPARTS}
_OF = ("firmware.protocol.codec", "firmware.protocol.frame")  # modules whose functions are replaced


def c_counterpart(function: "Any") -> "Any":
    """Return the counterpart of ``function`` in this module, or ``function`` itself without one."""
    counterpart = _BY_NAME.get(function.__name__) if function.__module__ in _OF else None
    if counterpart is None:
        return function
    counterpart.__wrapped__ = function
    return counterpart


class Aes:
    """AES of the package ``cryptography``, block by block as in MicroPython's cryptolib.

    The package is imported when a car with a key, or its box, is made, so that a CPython without
    the package runs all others.
    """

    def __init__(self, key: bytes) -> None:
        from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

        self._key = bytes(key)
        self._update = Cipher(algorithms.AES(self._key), modes.ECB()).encryptor().update

    def __reduce__(self) -> "tuple[type[Aes], tuple[bytes]]":
        """Copy by the key alone: there is no state between blocks."""
        return Aes, (self._key,)

    def encrypt(self, block: bytearray, out: bytearray) -> None:
        out[:] = self._update(bytes(block))
