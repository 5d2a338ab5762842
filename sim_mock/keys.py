"""Keys of virtual cars and boxes: what their boards have stored, made at the desk."""

from __future__ import annotations

from pathlib import Path

from firmware.boards.keys import KEY, NAME

_REMEDY = "tandem pair --virtual FILE makes one"


def stored_key(key: bytes, board_id: bytes, car_name: str = "") -> bytes:
    """As firmware/boards/keys.py has it; a name too long is cut, between two letters."""
    name = car_name.encode()[:NAME].decode(errors="ignore").encode()
    return key + board_id + name.ljust(NAME, b"\0")


def read_key_file(path: str) -> bytes:
    """The key in a file that ``tandem pair --virtual`` wrote. Raises ValueError."""
    try:
        key = bytes.fromhex(Path(path).read_text())
    except OSError as error:
        raise ValueError(f"{path}: {error.strerror}; {_REMEDY}") from None
    except ValueError:
        key = b""
    if len(key) != KEY:
        raise ValueError(f"{path} holds no key of {KEY} bytes; {_REMEDY}")
    return key
