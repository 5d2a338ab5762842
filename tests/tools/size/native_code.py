"""What a .mpy brings onto a chip's heap that it does not bring onto the unix port's: its machine
code, and those of its names that a chip has not in its flash.

The layout is that of format 6, as MicroPython's py/persistentcode.c loads it.
"""

_VERSION = 6
_HAS_FLAGS = 0x40  # of the architecture, in the third byte
_BYTECODE = 0
_STRINGS, _TUPLE = (5, 6), 10  # of the objects: a string has a zero behind it
_SINGLETONS = range(5)


def native_size(mpy: bytes) -> int:
    """Bytes of machine code in a compiled module. Raises ValueError for another format."""
    at = _behind_head(mpy)
    names, at = _number(mpy, at)
    objects, at = _number(mpy, at)
    for _ in range(names):
        at = _behind_name(mpy, at)
    for _ in range(objects):
        at = _behind_object(mpy, at)
    size, at = _code(mpy, at)
    if at != len(mpy):
        raise ValueError(f"a .mpy of {len(mpy)} bytes was read to {at}: its layout is another one")
    return size


def names_of(mpy: bytes) -> set[str]:
    """The names that it spells out. Raises ValueError for another format."""
    many, at = _number(mpy, _behind_head(mpy))
    at = _number(mpy, at)[1]
    found = set()
    for _ in range(many):
        size, begin = _number(mpy, at)
        at = _behind_name(mpy, at)
        if not size & 1:
            found.add(mpy[begin : at - 1].decode())
    return found


def _behind_head(mpy: bytes) -> int:
    if mpy[0] != ord("M") or mpy[1] != _VERSION:
        raise ValueError(f"no .mpy of format {_VERSION}: it begins with {mpy[:4].hex()}")
    return _number(mpy, 4)[1] if mpy[2] & _HAS_FLAGS else 4


def _number(mpy: bytes, at: int) -> tuple[int, int]:
    """Seven bits a byte, the highest first; and where it ends."""
    found = 0
    while mpy[at] & 0x80:
        found = (found | mpy[at] & 0x7F) << 7
        at += 1
    return found | mpy[at], at + 1


def _behind_name(mpy: bytes, at: int) -> int:
    size, at = _number(mpy, at)
    return at if size & 1 else at + (size >> 1) + 1  # odd: one that MicroPython has


def _behind_object(mpy: bytes, at: int) -> int:
    kind = mpy[at]
    if kind in _SINGLETONS:
        return at + 1
    size, at = _number(mpy, at + 1)
    if kind != _TUPLE:
        return at + size + (kind in _STRINGS)
    for _ in range(size):
        at = _behind_object(mpy, at)
    return at


def _code(mpy: bytes, at: int) -> tuple[int, int]:
    """Machine code of a function and of those within it; and where they end."""
    head, at = _number(mpy, at)
    size, is_native, has_children = head >> 3, head & 3 != _BYTECODE, head & 4
    at += size
    if is_native:
        at = _number(mpy, at)[1]  # where its prelude is, or its flags
    children = 0
    if has_children:
        children, at = _number(mpy, at)
    total = size if is_native else 0
    for _ in range(children):
        within, at = _code(mpy, at)
        total += within
    return total, at
