"""The key of a car and its runstop box, on a board: checked for, written, read back.

A key is kept in two files, as firmware/boards/keys.py and store.py have them.
"""

from __future__ import annotations

import binascii
from typing import cast

from host_bridge.config.boards import board_names, load_board
from host_bridge.core.errors import NotHeldFault, RefusedFault
from host_bridge.deploy.flash.board.board import RawBoard
from host_bridge.deploy.flash.board.heap import refuse_small_heap

# From firmware/boards/keys.py and store.py
PATHS = ("/key_a.bin", "/key_b.bin")
KEY, BOARD_ID, NAME = 16, 8, 16
_KINDS = {"car": "a car", "box": "a runstop box"}
_ASK_KIND = """
try:
 sys.path.insert(0, _starts().folder)
 import pins
 print(repr(pins.PROGRAM))
except (AttributeError, ImportError):
 print("None")
"""
_ASK_WIRING = """
import pins
print(repr((pins.BOARD, pins.VEHICLE)))
"""
_ASK_CIPHER = """
try:
 import cryptolib
 print("True")
except ImportError:
 print("False")
"""
_ASK_KEY = f"""
_found = False
for _path in {PATHS}:
 try:
  with open(_path, "rb") as _file:
   _found = _found or any(_file.read()[4:{4 + KEY}])
 except OSError:
  pass
print(repr(_found))
"""


def refuse_heap_without_room(board: RawBoard, port: str) -> str:
    """Return the name of the car's board, "" for one that Tandem does not know.

    Raises errors.RefusedFault if a key would leave the car too little heap to start.
    """
    name, wiring = cast(tuple[str, str], board.evaluate(_ASK_WIRING))
    if name not in board_names():
        return ""
    refuse_small_heap(load_board(name), wiring, board.facts(), True, port)
    return name


def check_kind(board: RawBoard, port: str, kind: str) -> None:
    """Raise errors.RefusedFault for a board of another kind."""
    found = board.evaluate(_ASK_KIND)
    if found != kind:
        raise RefusedFault(
            f"this is no board with {_KINDS[kind]}'s program",
            where=port,
            expected=_KINDS[kind],
            got=_KINDS.get(str(found), "neither a car's nor a box's program"),
            remedy="swap --car and --box, or tandem flash it first",
        )


def check(board: RawBoard, port: str, kind: str) -> None:
    """Raise errors.RefusedFault for a board of another kind, or one that cannot use a key."""
    check_kind(board, port, kind)
    if not board.evaluate(_ASK_CIPHER):
        raise RefusedFault(
            "its MicroPython has no AES, so it cannot use a key",
            where=port,
            expected="the module cryptolib",
            remedy="put a MicroPython on it that has it (tandem flash --runtime FILE), or use the "
            "runstop loop or the receiver instead of a box",
        )


def has_key(board: RawBoard) -> bool:
    """Return whether a key is on the board; the key itself is not read."""
    return bool(board.evaluate(_ASK_KEY))


def store(board: RawBoard, key: bytes, name: str) -> None:
    """Write both files, so that no damaged one brings an old key back.

    Raises errors.NotHeldFault.
    """
    image = key + board_id_of(board.facts().unique_id) + _padded(name)
    for path in PATHS:
        data = framed(image)
        board.replace(path, data)
        if not board.has(path, data):
            raise NotHeldFault(
                "the key that was read back is not the key that was written",
                where=board.where,
                remedy="run the command again; if it happens again, the board's flash is worn",
            )


def framed(image: bytes) -> bytes:
    """Return a file in the format of firmware/boards/store.py, with counter 1."""
    data = (1).to_bytes(4, "little") + image
    return data + binascii.crc32(data).to_bytes(4, "little")


def board_id_of(chip_id: bytes) -> bytes:
    """Return the board's id: the chip's id, folded as firmware/boards/keys.py does it."""
    found = bytearray(BOARD_ID)
    for at, byte in enumerate(chip_id):
        found[at % BOARD_ID] ^= byte
    return bytes(found)


def _padded(name: str) -> bytes:
    return name.encode()[:NAME].decode(errors="ignore").encode().ljust(NAME, b"\0")
