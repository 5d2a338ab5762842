"""The folder of a campaign: its file, and one line of JSON for each case that was computed.

A line is written whole or, if the machine loses power meanwhile, torn; a torn last line is dropped
and its case is run again. One program at a time writes: the lock ends with it, however it ends.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from difflib import get_close_matches
from pathlib import Path
from shlex import quote
from typing import Any

from host_bridge.core.errors import DataFileFault, UsageFault
from host_bridge.core.files import misread_text

FILE = "campaign.toml"  # what is asked
ROWS = "rows.jsonl"
_LOCK = ".lock"
Rows = dict[str, dict[str, Any]]


def folder_of(path: Path) -> Path:
    """Return the folder of a campaign that is named by its folder or by the file in it."""
    return path.parent if path.name == FILE and not path.is_dir() else path


def no_campaign(folder: Path) -> UsageFault:
    """Return the fault for a folder that is no campaign's; it names one that may be meant."""
    if folder.is_dir():
        what, new = f"there is no {FILE} in it", quote(str(folder))
    elif folder.exists():
        what, new = "this is a file", f"FOLDER --from {quote(str(folder))}"
    else:
        what, new = "there is no such folder", quote(str(folder))
    others = {it.parent.name: it.parent for at in (folder.parent, Path()) for it in _files_in(at)}
    near = get_close_matches(folder.stem, others, 1)
    return UsageFault(
        what,
        where=str(folder),
        expected="the folder of a campaign",
        remedy=f"did you mean {quote(str(others[near[0]]))}?"
        if near
        else f"tandem campaign new {new}",
    )


def _files_in(folder: Path) -> Iterator[Path]:
    return folder.glob(f"*/{FILE}")


def read_rows(folder: Path, code: str | None = None) -> Rows:
    """Return the newest row of each case by its id, of one state of the code if given.

    Raises errors.DataFileFault.
    """
    found: Rows = {}
    path = folder / ROWS
    if not path.exists():
        return found
    try:
        with path.open("rb") as file:
            for number, line in enumerate(file, 1):
                if not line.endswith(b"\n"):
                    break  # torn
                row = _parsed(path, number, line)
                if code is None or row["code"] == code:
                    found.pop(row["case_id"], None)  # the newest is the last
                    found[row["case_id"]] = row
    except OSError as error:
        raise DataFileFault.unreadable(path, error) from None
    return found


def _parsed(path: Path, number: int, line: bytes) -> dict[str, Any]:
    try:
        row = json.loads(line)
        row["case_id"], row["code"], row["outcome"]
    except (ValueError, KeyError, TypeError) as error:
        raise DataFileFault(
            "no row of a campaign",
            where=f"{path}:{number}",
            got=misread_text(error),
            remedy="remove that line: its case is run again",
        ) from None
    return dict(row)


class RowWriter:
    """Appends rows; each is on the disk when ``write`` returns."""

    def __init__(self, folder: Path) -> None:
        path = folder / ROWS
        self._fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
        size = os.lseek(self._fd, 0, os.SEEK_END)
        data = os.pread(self._fd, size, 0)
        os.ftruncate(self._fd, data.rfind(b"\n") + 1)  # a torn last line

    def write(self, row: dict[str, Any]) -> None:
        """Append one row. Raises OSError if the disk is full."""
        data = json.dumps(row, separators=(",", ":")).encode() + b"\n"
        while data:
            data = data[os.write(self._fd, data) :]
        os.fdatasync(self._fd)

    def close(self) -> None:
        os.close(self._fd)


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold the folder for one writer. Raises errors.UsageFault if another program has it."""
    with (folder / _LOCK).open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise UsageFault(
                "this campaign is running already",
                where=str(folder),
                remedy=f"tandem campaign status {folder} shows how far it is",
            ) from None
        yield


def is_running(folder: Path) -> bool:
    """Return whether a program computes cases of this campaign now."""
    try:
        with locked(folder):
            return False
    except UsageFault:
        return True
