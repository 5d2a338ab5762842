"""The stored configuration: two files, the newer whole one counts, the other is written next.

    counter (4 bytes, low first), the image, CRC-32 of both (4 bytes)

So a cut while one is written leaves the other, and nothing depends on the file system's promises.
"""

import binascii

_HEAD = 4
_TAIL = 4
_COUNTER_MASK = (1 << 30) - 1


class Store:
    """``paths`` are two files in a folder that there is."""

    def __init__(self, paths: "tuple[str, str]") -> None:
        self._paths = paths

    def load_into(self, image: bytearray) -> int:
        """The newer of what is whole; how many bytes, 0 if there is none that fits."""
        at = self._newest()
        if at < 0:
            return 0
        data = _read(self._paths[at])
        size = len(data) - _HEAD - _TAIL
        if size > len(image):
            return 0
        image[:size] = data[_HEAD : _HEAD + size]
        return size

    def save(self, image: bytearray, size: int) -> bool:
        """True once it was read back; what was stored before is there until then."""
        newest = self._newest()
        counter = _counter(_read(self._paths[newest])) + 1 & _COUNTER_MASK if newest >= 0 else 1
        data = counter.to_bytes(_HEAD, "little") + bytes(image[:size])
        data += _crc(data)
        path = self._paths[1 - newest if newest >= 0 else 0]
        try:
            with open(path, "wb") as file:
                file.write(data)
        except OSError:
            return False
        return _read(path) == data

    def _newest(self) -> int:
        first, second = _read(self._paths[0]), _read(self._paths[1])
        if not (first and second):
            return 0 if first else 1 if second else -1
        ahead = _counter(second) - _counter(first) & _COUNTER_MASK
        return 1 if ahead <= _COUNTER_MASK // 2 else 0


def _crc(data: bytes) -> bytes:
    crc: int = binascii.crc32(data)
    return crc.to_bytes(_TAIL, "little")


def _counter(data: bytes) -> int:
    return int.from_bytes(data[:_HEAD], "little")


def _read(path: str) -> bytes:
    """A whole file; nothing if it is not there or damaged."""
    try:
        with open(path, "rb") as file:
            data: bytes = file.read()
    except OSError:
        return b""
    is_whole = len(data) > _HEAD + _TAIL and _crc(data[:-_TAIL]) == data[-_TAIL:]
    return data if is_whole else b""
