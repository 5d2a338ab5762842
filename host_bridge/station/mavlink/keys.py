"""The key with which messages are signed: a passphrase in a file of this user's own.

MAVLink's key is the SHA-256 of the passphrase, as QGroundControl and MAVProxy compute it; so the
line of the file is what a person types into the station.
"""

from __future__ import annotations

import hashlib
import os
import secrets
from pathlib import Path

from host_bridge.core.errors import DataFileFault, UsageFault

_KEY_BYTES = 32  # as a pairing's: nobody guesses 256 bits
_FEWEST = 32  # letters of a passphrase: as many hexadecimal digits are 128 bits
_LONGEST = 4096  # bytes of a file that holds one line


def read_key(path: Path) -> bytes:
    """Return the key in a file. Raises errors.DataFileFault, errors.UsageFault."""
    try:
        with path.open("rb") as file:
            mode = os.fstat(file.fileno()).st_mode
            text = file.read(_LONGEST).decode("utf-8", "replace").strip()
    except OSError as error:
        raise DataFileFault.unreadable(path, error) from None
    if mode & 0o077:
        raise UsageFault(
            "others may read this key, so it is none",
            where=str(path),
            expected="mode 0600",
            got=f"mode {mode & 0o777:04o}",
            remedy=f"make another one, tandem mavlink --new-key; or chmod 600 {path}",
        )
    if len(text) < _FEWEST or "\n" in text:
        raise UsageFault(
            "no passphrase of a signing key",
            where=str(path),
            expected=f"one line of {_FEWEST} letters or more",
            got=f"{len(text)} letters",
            remedy="tandem mavlink --new-key FILE makes one",
        )
    return hashlib.sha256(text.encode()).digest()


def write_new_key(path: Path) -> str:
    """Make a passphrase, write it to a new file with mode 0600, and return it.

    Raises errors.DataFileFault, also for a file that is there already.
    """
    text = secrets.token_hex(_KEY_BYTES)
    try:
        number = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        raise DataFileFault.in_the_way(path) from None
    except OSError as error:
        raise DataFileFault.unwritable("the key", path, error) from None
    with os.fdopen(number, "w") as file:
        file.write(text + "\n")
    return text
