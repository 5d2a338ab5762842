"""Files with keys: this login's own, closed to others, and never followed through a link."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from host_bridge.core.errors import DataFileFault
from host_bridge.core.system.atomic_file import write_atomically
from host_bridge.core.system.users_folder import users_folder


def data_folder(name: str) -> Path:
    """Return a folder of this login's data, made with mode 0700. Raises errors.DataFileFault."""
    folder = users_folder(name)
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        _refuse_others(folder, folder.lstat(), stat.S_ISDIR)
    except OSError as error:
        raise DataFileFault.unwritable("the folder of keys", folder, error) from None
    return folder


def read_private(path: Path) -> dict[str, Any] | None:
    """Return the object in a file of keys; None without one. Raises errors.DataFileFault."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise DataFileFault.unreadable(path, error) from None
    with open(handle, encoding="utf-8") as file:
        _refuse_others(path, os.fstat(handle), stat.S_ISREG)
        try:
            values = json.load(file)
        except ValueError:
            values = None
    if not isinstance(values, dict):
        raise DataFileFault(
            "a file of keys is damaged",
            where=str(path),
            expected="an object in JSON",
            remedy="remove it; guests need new tokens then: tandem invite",
        )
    return values


def write_private(path: Path, values: dict[str, Any]) -> None:
    """Write an object for this login alone, beside the old one and in its place.

    Raises errors.DataFileFault.
    """
    try:
        write_atomically(path, json.dumps(values, indent=2) + "\n")
    except OSError as error:
        raise DataFileFault.unwritable("a file of keys", path, error) from None


@contextlib.contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold the lock of a file that two commands may want to change at once."""
    with open(path.with_suffix(".lock"), "w", encoding="utf-8", opener=_private) as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _private(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NOFOLLOW, 0o600)


def _refuse_others(path: Path, status: os.stat_result, is_kind: Any) -> None:
    """Raise errors.DataFileFault if another login could read or write it."""
    if status.st_uid == os.getuid() and not status.st_mode & 0o077 and is_kind(status.st_mode):
        return
    raise DataFileFault(
        "keys are where others might read them",
        where=str(path),
        expected="a file or folder of your own, closed to others",
        got=f"user {status.st_uid}, mode {stat.S_IMODE(status.st_mode):04o}",
        remedy=f"if nobody else had it: chmod go= {path}; else tandem guests rotate",
    )
