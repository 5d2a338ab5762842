"""The log of a car's guests: who came and went, who was refused, who attested what."""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import datetime, timezone
from pathlib import Path

from host_bridge.core.errors import DataFileFault
from host_bridge.core.system.printable import one_line
from host_bridge.sharing.network.private_files import data_folder

_LONGEST_BYTES = 262_144  # some 3000 visits; then the older half of the log is another file


class VisitLog:
    """The log of the car with this board. One line a visit: date, and what happened."""

    def __init__(
        self, board_id: bytes, wall_s: Callable[[], float], folder: Path | None = None
    ) -> None:
        self._path = (folder or data_folder("guests")) / f"{board_id.hex()}.log"
        self._older = self._path.with_suffix(".older.log")
        self._wall_s = wall_s

    def add(self, text: str) -> None:
        """Write one line. Raises errors.DataFileFault."""
        when = datetime.fromtimestamp(self._wall_s(), timezone.utc).isoformat(timespec="seconds")
        try:
            with open(self._path, "a", encoding="utf-8", opener=_private) as file:
                file.write(f"{when} {one_line(text)}\n")
                is_full = file.tell() > _LONGEST_BYTES
            if is_full:
                self._path.replace(self._older)
        except OSError as error:
            raise DataFileFault.unwritable("the log of guests", self._path, error) from None

    def rows(self) -> list[dict[str, str]]:
        """Return date and text of each line, the oldest first. Raises errors.DataFileFault."""
        found: list[dict[str, str]] = []
        for path in (self._older, self._path):
            try:
                lines = path.read_text("utf-8", "replace").splitlines()
            except FileNotFoundError:
                continue
            except OSError as error:
                raise DataFileFault.unreadable(path, error) from None
            for line in lines:
                when, _, text = line.partition(" ")
                found.append({"at": when, "what": text})
        return found


def _private(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
