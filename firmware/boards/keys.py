"""The key of a car or a box: written over its cable by ``tandem pair``, read at the start.

    key (16 bytes), board id (8), the car's name (16, utf-8, zero padded)

Two files hold it (store.py), beside the slots, so that the two stay paired after a flash. A key
that was given to another board counts as none, so that a copied flash makes no second box. No
message carries a key, in either direction. A car that was given a key needs its box until the key
is forgotten, by its cable too, which stores a key of zeros. A key that cannot be read, or is
another board's, counts as given and lost.
"""

from firmware.boards.store import Store
from firmware.compat import TYPE_CHECKING
from firmware.protocol.codes import PAIRING_MOVED, PAIRING_NO_KEY, PAIRING_SILENT

if TYPE_CHECKING:
    from typing import Any

PATHS = ("/key_a.bin", "/key_b.bin")
KEY, BOARD_ID, NAME = 16, 8, 16  # bytes: AES-128, the board's id, the name of its car
SIZE = KEY + BOARD_ID + NAME
_LOST = b"\0"  # in place of what cannot be read: no key has this size


def read_key(board: "Any", paths: "tuple[str, str]" = PATHS) -> None:
    """Set the board's ``key``, ``pairing`` and ``needs_box``; one of the files has to exist."""
    image = bytearray(SIZE)
    take_key(board, bytes(image[: Store(paths).load_into(image)]) or _LOST)


def take_key(board: "Any", image: bytes) -> None:
    """Set the same by what was stored; it is empty where nothing ever was."""
    board.key, board.pairing = b"", PAIRING_NO_KEY
    board.needs_box = 0
    if not image or (len(image) == SIZE and image[:KEY] == bytes(KEY)):
        return
    board.needs_box = 1
    if len(image) != SIZE:
        return
    if image[KEY : KEY + BOARD_ID] != board.board_id:
        board.pairing = PAIRING_MOVED
        return
    board.key = image[:KEY] + image[KEY + BOARD_ID :]
    board.pairing = PAIRING_SILENT


def folded(chip_id: bytes) -> bytes:
    """Return a board's id, of its chip's number, as physical/board.py does, which needs no keys."""
    found = bytearray(8)  # bytes of a board's id
    for i in range(len(chip_id)):
        found[i % 8] ^= chip_id[i]
    return bytes(found)
