"""An append-only list on disk, for the index of a log.

In memory the index would grow by 19 MB an hour, in a program that is to run for days.
"""

from __future__ import annotations

import pickle
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any


class SpilledList:
    """The part of a list that mcap's writer uses.

    Its file has no name, and ends with the process.
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
