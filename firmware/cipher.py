"""AES-128 that encrypts 16-byte blocks in place and takes nothing from the heap for it."""

import sys

from firmware.compat import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Protocol

    class BlockCipher(Protocol):
        """An AES cipher with one key, which encrypts each block by itself."""

        def encrypt(self, block: bytearray, out: bytearray) -> object: ...


def block_cipher(key: bytes) -> "BlockCipher":
    """Return the AES cipher of ``key``; raise ValueError if this MicroPython has none."""
    if sys.implementation.name != "micropython":
        from firmware.c_library import Aes

        return Aes(key)
    try:
        from cryptolib import aes
    except ImportError:
        raise ValueError("this MicroPython has no AES") from None
    return aes(key, 1)  # 1: ECB, each block by itself
