"""AES-128 that encrypts 16 bytes in place, and takes nothing from the heap for it."""

import sys

from firmware.compat import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Protocol

    class BlockCipher(Protocol):
        """AES with one key, block by block."""

        def encrypt(self, block: bytearray, out: bytearray) -> object: ...


def block_cipher(key: bytes) -> "BlockCipher":
    """Raises ValueError where MicroPython was built without it."""
    if sys.implementation.name != "micropython":
        from firmware.c_library import Aes

        return Aes(key)
    try:
        from cryptolib import aes
    except ImportError:
        raise ValueError("this MicroPython has no AES") from None
    return aes(key, 1)  # each block by itself
