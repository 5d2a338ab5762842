"""A list that only grows, on the disk instead of in memory: what a log's index is made of in the
end grows by 19 MB an hour otherwise, in a program that is to run for days.
"""

from __future__ import annotations

import pickle
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any


class SpilledList:
    """As much of a list as mcap's writer asks of one. The file has no name, and ends with us."""

    def __init__(self, beside: Path | None) -> None:
        self._file = tempfile.TemporaryFile(dir=beside)  # noqa: SIM115 - as long as the list
        self._size = 0

    def append(self, item: Any) -> None:
        """Raises OSError on a full disk."""
        pickle.dump(item, self._file)
        self._size += 1

    def __iter__(self) -> Iterator[Any]:
        self._file.seek(0)
        for _ in range(self._size):
            yield pickle.load(self._file)  # nobody else has the file

    def __len__(self) -> int:
        return self._size

    def close(self) -> None:
        with suppress(OSError):  # what a full disk did not take is of no use any more
            self._file.close()
