"""Creation of new files: none is ever overwritten."""

from __future__ import annotations

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
