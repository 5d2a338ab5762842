"""The tag shows that a message is from who has the key, and of this car's present start.

A tag is the first 8 bytes of a CBC-MAC by AES-128 over two blocks: a block with the car's nonce,
drawn anew at each of its starts, then the first 16 bytes of the message, its number and direction
among them. Each tagged message is of exactly that length, for which a CBC-MAC is sound. The
encrypted first block is kept (``mask``), so that a message takes one block. Both buffers are made
once.
"""

from firmware.cipher import block_cipher
from firmware.compat import micropython, ptr8

const = micropython.const
KEY = const(16)  # bytes: AES-128
BLOCK = const(16)  # the bytes of a message that its tag covers
TAG = const(8)  # bytes of the block that are sent: one guess in 2**64 is right


@micropython.viper
def _mix(block: ptr8, mask: ptr8, payload: ptr8) -> int:
    i = 0
    while i < 16:  # BLOCK; viper takes the bare number
        block[i] = mask[i] ^ payload[i]
        i += 1
    return 0  # viper wants a word, or no annotation


@micropython.viper
def _differs(block: ptr8, payload: ptr8, at: int) -> int:
    """Return 0 if the tag at ``at`` is the block's. It takes as long wherever they differ."""
    found = 0
    i = 0
    while i < 8:  # TAG; viper takes the bare number
        found |= block[i] ^ payload[at + i]
        i += 1
    return found


class Tag:
    """The maker and checker of tags by one key. Raises ValueError where there is no cipher."""

    def __init__(self, key: bytes) -> None:
        self._cipher = block_cipher(key)
        self.block = bytearray(BLOCK)  # begins with the tag that was made last

    def begin(self, mask: bytearray, nonce: int) -> None:
        """Make ``mask``, the encrypted first block, for the nonce of a car's start."""
        for i in range(BLOCK):
            mask[i] = nonce >> 8 * i & 255 if i < 4 else 0
        self._cipher.encrypt(mask, mask)

    @micropython.native
    def make(self, mask: bytearray, payload: bytearray) -> None:
        block = self.block
        _mix(block, mask, payload)
        self._cipher.encrypt(block, block)

    @micropython.native
    def is_right(self, mask: bytearray, payload: bytearray, at: int) -> bool:
        self.make(mask, payload)
        return _differs(self.block, payload, at) == 0
