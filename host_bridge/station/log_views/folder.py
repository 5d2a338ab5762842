"""The logs in one folder: their list, and a file by its name. Only plain names of that folder."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from host_bridge.core.errors import DataFileFault
from host_bridge.logs.reading import outline

SUFFIX = ".mcap"
_BLOCK = 1 << 16  # bytes that are sent at once


class LogRow(NamedTuple):
    """A log in the list: when it was written last, in s since 1970, and how long it is, in s."""

    name: str
    written_s: float
    size_bytes: int
    cars: tuple[str, ...]
    length_s: float
    is_complete: bool


class LogFolder:
    """The logs of one folder; what is below it or beside it is no log of it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._known: dict[tuple[str, int, int], LogRow | None] = {}  # by name, size and time

    def rows(self) -> list[LogRow]:
        """Return the logs, the newest first; [] where the folder cannot be read.

        A file is read again only when it has changed, and then without unpacking it.
        """
        found = {}
        for path, facts in self._files():
            key = path.name, facts.st_size, facts.st_mtime_ns
            found[key] = self._known[key] if key in self._known else _row(path, facts)
        self._known = found
        rows = [row for row in found.values() if row is not None]
        return sorted(rows, key=lambda row: row.written_s, reverse=True)

    def path_of(self, name: str) -> Path:
        """Return the file of a log of this folder.

        Raises errors.DataFileFault for any other name: only what the list could have is served.
        """
        if name in (path.name for path, _ in self._files()):
            return self._folder / name
        raise DataFileFault(
            "there is no such log",
            where=str(self._folder),
            expected=f"the name of a file in this folder that ends in {SUFFIX}",
            got=repr(name),
        )

    def _files(self) -> Iterator[tuple[Path, os.stat_result]]:
        """Yield plain files, with what the system says of each: no links, nothing hidden."""
        try:
            entries = sorted(os.scandir(self._folder), key=lambda it: it.name)
        except OSError:
            return
        for it in entries:
            if it.name.startswith(".") or not it.name.endswith(SUFFIX):
                continue
            try:
                facts = it.stat(follow_symlinks=False)
            except OSError:
                continue  # it was taken away meanwhile
            if stat.S_ISREG(facts.st_mode):
                yield Path(it.path), facts


def parts_of(path: Path) -> tuple[int, Iterator[bytes]]:
    """Return a file's size at this moment and that many of its bytes: a recording grows on.

    Raises errors.DataFileFault.
    """
    try:
        file = path.open("rb")
    except OSError as error:
        raise DataFileFault.unreadable(path, error) from None
    size = os.fstat(file.fileno()).st_size

    def parts() -> Iterator[bytes]:
        left = size
        with file:
            while left and (data := file.read(min(left, _BLOCK))):
                left -= len(data)
                yield data

    return size, parts()


def _row(path: Path, facts: os.stat_result) -> LogRow | None:
    """Return the log's row; None for a file that is no log of Tandem."""
    found = outline(path)
    return LogRow(path.name, facts.st_mtime, facts.st_size, *found) if found else None
