"""The stored configuration: two files, the newer whole one counts, the other is written next.

    counter (4 bytes, low first), the image, CRC-32 of both (4 bytes)

So a power cut while one is written leaves the other, whatever the file system promises.
"""

import binascii
import os

from firmware.compat import TYPE_CHECKING

if TYPE_CHECKING:
    from io import BufferedReader

# Bytes of the counter and of the CRC-32
_HEAD = 4
_TAIL = 4
_COUNTER_MASK = (1 << 30) - 1
_PIECE = 64  # of a file: a heap that is nearly full has no hole for the whole of it


class Store:
    """The store of an image in two files, ``paths``, in a folder that exists."""

    def __init__(self, paths: "tuple[str, str]") -> None:
        self._paths = paths
        self._piece = bytearray(_PIECE)
        self._counter = self._size = self._crc = 0  # of the file that counts

    def load_into(self, image: bytearray) -> int:
        """Read the newer image that is whole; return its size, 0 if there is none that fits."""
        at = self._newest()
        if at < 0 or self._size > len(image):
            return 0
        with open(self._paths[at], "rb") as file:
            file.read(_HEAD)
            size: int = file.readinto(memoryview(image)[: self._size])
        return size

    def save(self, pieces: "list[bytearray]") -> bool:
        """Write an image, given in pieces; return True once it was read back and counts.

        Otherwise the one before is there, also where memory runs out: what was written and cannot
        be read back, or does not count, is removed. It counts where that fails as well.
        """
        path = ""
        is_put = is_whole = False
        try:
            newest = self._newest()
            counter = self._counter + 1 & _COUNTER_MASK if newest >= 0 else 1
            head = counter.to_bytes(_HEAD, "little")
            size, crc = 0, binascii.crc32(head)
            for piece in pieces:
                size += len(piece)
                crc = binascii.crc32(piece, crc)
            at = 1 - newest if newest >= 0 else 0
            path = self._paths[at]
            self._put(path, head, pieces, crc.to_bytes(_TAIL, "little"))
            is_put = True
            is_whole = self._newest() == at and self._size == size and self._crc == crc
        except (OSError, MemoryError):
            pass
        return is_whole or (is_put and not _is_removed(path))

    def _put(self, path: str, head: bytes, pieces: "list[bytearray]", tail: bytes) -> None:
        """Write a file; a call of its own, so that what is read back finds the room of this one."""
        with open(path, "wb") as file:
            file.write(head)
            for piece in pieces:
                file.write(piece)
            file.write(tail)

    def _newest(self) -> int:
        """Return which file counts, -1 for none; note its counter, its image's size and CRC."""
        is_first = self._is_whole(self._paths[0])
        counter, size, crc = self._counter, self._size, self._crc
        if self._is_whole(self._paths[1]):
            is_newer = self._counter - counter & _COUNTER_MASK <= _COUNTER_MASK // 2
            if is_newer or not is_first:
                return 1
        self._counter, self._size, self._crc = counter, size, crc
        return 0 if is_first else -1

    def _is_whole(self, path: str) -> bool:
        """Return whether it is there and undamaged; note its counter, its image's size and CRC."""
        try:
            self._size = os.stat(path)[6] - _HEAD - _TAIL
            with open(path, "rb") as file:
                head = file.read(_HEAD)
                self._crc = self._crc_of(file, self._size, binascii.crc32(head))
                tail = file.read(_TAIL)
        except OSError:
            return False
        self._counter = int.from_bytes(head, "little")
        return self._size > 0 and tail == self._crc.to_bytes(_TAIL, "little")

    def _crc_of(self, file: "BufferedReader", size: int, crc: int) -> int:
        """Return the CRC of the next ``size`` bytes, going on from ``crc``."""
        piece = memoryview(self._piece)
        while size > 0:
            got = file.readinto(piece[: min(size, _PIECE)])
            if not got:
                break
            crc = binascii.crc32(piece[:got], crc)
            size -= got
        return crc


def _is_removed(path: str) -> bool:
    try:
        os.remove(path)
    except (OSError, MemoryError):
        return False
    return True
