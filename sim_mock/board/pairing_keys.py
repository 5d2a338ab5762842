"""The keys of virtual cars and runstop boxes, as their boards would have them stored."""

from __future__ import annotations

from pathlib import Path

from firmware.boards.keys import KEY, NAME
from sim_mock.files.text import KIB, FileFault, read_text

_REMEDY = "tandem pair --virtual FILE makes one"


def stored_key(key: bytes, board_id: bytes, car_name: str = "") -> bytes:
    """Return the stored record of a key, in the format of firmware/boards/keys.py.

    A name that is too long is cut between two characters.
    """
    name = car_name.encode()[:NAME].decode(errors="ignore").encode()
    return key + board_id + name.ljust(NAME, b"\0")


def read_key_file(path: str) -> bytes:
    """Return the key in a file of ``tandem pair --virtual``. Raises ValueError."""
    try:
        key = bytes.fromhex(read_text(Path(path), KIB))
    except FileFault as error:
        raise ValueError(f"{error}; {_REMEDY}") from None
    except ValueError:
        key = b""
    if len(key) != KEY:
        raise ValueError(f"{path} holds no key of {KEY} bytes; {_REMEDY}")
    return key
