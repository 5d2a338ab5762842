"""Refuses folders with more entries than a reader takes in at a glance.

A folder holds 16 files and folders at most, so that ``ls`` of it reads like a table of contents.
``host_bridge/cli/commands`` has a file for each command. ``STILL`` has the folders that are wider
and are to be parted: their counts may only fall, and the table falls with them.

    python tests/tools/rules/writing/folders_rule.py
"""

import sys
from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path

from tests.tools.rules.refusing import told, tracked_files

ROOT = Path(__file__).resolve().parents[4]
MOST = 16
# They tell Python that a folder is a package, and type checkers that it has types; readers nothing
_MARKERS = ("py.typed", "__init__.py")
WIDE = ("host_bridge/cli/commands",)  # one file each of what there are so many of
STILL: dict[str, int] = {}


def entries(files: Iterable[str]) -> dict[str, int]:
    """Count the files and folders in each folder of these paths."""
    found: dict[str, set[str]] = defaultdict(set)
    for file in files:
        parts = file.split("/")
        if parts[-1] in _MARKERS:
            continue
        for depth in range(1, len(parts)):
            found["/".join(parts[:depth])].add(parts[depth])
    return {folder: len(names) for folder, names in sorted(found.items())}


def refusals(files: Iterable[str], still: Mapping[str, int] = STILL) -> list[str]:
    """List the folders that are too wide. Raises ValueError if there is nothing to look at."""
    counts = entries(files)
    if not counts:
        raise ValueError("no file in any folder")
    found = [
        f"{folder}: {count} files and folders, {MOST} at most; part it by what its files do"
        for folder, count in counts.items()
        if count > MOST and folder not in WIDE and folder not in still
    ]
    return found + [
        f"{folder}: {counts.get(folder, 0)} files and folders, and the table of folders_rule.py "
        f"says {count}; it may only fall, and with them"
        for folder, count in still.items()
        if counts.get(folder, 0) != count
    ]


def main() -> int:
    """Print what is refused; 1 if anything is."""
    return told(refusals(tracked_files(ROOT)))


if __name__ == "__main__":
    sys.exit(main())
