"""Creation of new files, of which none is ever overwritten, and of a list that lies on disk."""

from __future__ import annotations

import errno
import os
import pickle
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

from host_bridge.core.errors import DataFileFault


def open_new(path: Path, what: str, mode: str = "xb", **options: Any) -> IO[Any]:
    """Open a new file as ``Path.open`` does; ``what`` names its kind for people.

    Raises errors.DataFileFault for a file that exists already, or that cannot be made.
    """
    try:
        return path.open(mode, **options)
    except FileExistsError:
        raise DataFileFault.in_the_way(path) from None
    except OSError as error:
        raise DataFileFault.unwritable(what, path, error) from None


def write_new(path: Path, what: str, text: str) -> None:
    """Write a whole new file. Raises errors.DataFileFault, also if there is no room for it."""
    try:
        with open_new(path, what, "x", encoding="utf-8") as stream:
            stream.write(text)
    except OSError as error:
        raise DataFileFault.unwritable(what, path, error) from None


def refuse_existing(path: Path) -> None:
    """Refuse before any work what cannot be written later. Raises errors.DataFileFault."""
    if path.exists() or path.is_symlink():
        raise DataFileFault.in_the_way(path)


def refuse_unwritable(path: Path, what: str) -> None:
    """Refuse before long work a file that cannot be made after it; ``what`` names its kind.

    Raises errors.DataFileFault.
    """
    refuse_existing(path)
    code = 0
    if not path.parent.is_dir():
        code = errno.ENOENT
    elif not os.access(path.parent, os.W_OK):
        code = errno.EACCES
    if code:
        raise DataFileFault.unwritable(what, path, OSError(code, os.strerror(code)))


def make_folder(path: Path) -> None:
    """Make a folder for new files, if it is not there. Raises errors.DataFileFault."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DataFileFault.unwritable("the folder", path, error) from None


def is_written(path: Path, text: str) -> bool:
    """Return whether the file holds this text already."""
    try:
        return bool(text) and path.is_file() and path.read_text(encoding="utf-8") == text
    except (OSError, UnicodeDecodeError):
        return False


class SpilledList:
    """An append-only list on disk, for the index of a log: the part of one that mcap's writer uses.

    Its file has no name, and ends with the process. In memory the index would grow by 19 MB an
    hour, in a program that is to run for days.
    """

    def __init__(self, beside: Path | None) -> None:
        self._file = tempfile.TemporaryFile(dir=beside)  # noqa: SIM115 - as long as the list
        self._size = 0

    def append(self, item: Any) -> None:
        """Append to the file. Raises OSError on a full disk."""
        pickle.dump(item, self._file)
        self._size += 1

    def __iter__(self) -> Iterator[Any]:
        self._file.seek(0)
        for _ in range(self._size):
            yield pickle.load(self._file)  # safe: only this process can write the file

    def __len__(self) -> int:
        return self._size

    def close(self) -> None:
        with suppress(OSError):  # on a full disk the rest is of no use any more
            self._file.close()
