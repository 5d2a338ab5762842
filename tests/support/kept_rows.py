"""Results of a study that are kept as they are found, so that the same words again go on."""

import hashlib
import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
SOURCES = "sources"


class KeptRows:
    """Rows in a file of one JSON object a line.

    Each line has the hash of what it was found with, so results of other sources are never mixed
    in: they are left in the file, are not in ``rows``, and are counted in ``others``.
    """

    def __init__(self, path: Path, sources: str) -> None:
        self._path, self._sources = path, sources
        self.others = 0
        self.rows: list[dict[str, Any]] = []
        lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
        for line in lines:
            try:
                row = json.loads(line)
            except ValueError:
                continue  # the last one, when somebody pulled the plug
            if row.pop(SOURCES) == sources:
                self.rows.append(row)
            else:
                self.others += 1

    def add(self, row: Mapping[str, Any]) -> None:
        """At once, so that nothing is lost."""
        line = json.dumps({**row, SOURCES: self._sources})
        with self._path.open("a+b") as file:
            if file.tell():
                file.seek(-1, os.SEEK_END)
                line = line if file.read() == b"\n" else f"\n{line}"  # after half a line
            file.write(f"{line}\n".encode())


def sources_of(globs: Iterable[str]) -> str:
    """A hash of all files that a result hangs on."""
    digest = hashlib.sha256()
    for path in sorted({path for glob in globs for path in ROOT.glob(glob) if path.is_file()}):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]
