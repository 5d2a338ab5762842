"""Refuses folders with more entries than a reader takes in at a glance, and with too few to be one.

A folder holds 16 files and folders at most, so that ``ls`` of it reads like a table of contents,
and three at least: what is fewer lies in the folder above, where one look finds it. So do the tests
of a room that has one or two files of them. ``WIDE`` and ``FEW`` have the exceptions, each with its
reason, and ``ROS_PACKAGES`` those whose layout ROS's build demands. A row that is needed no more is
refused too. A folder's README.md is one page: what is longer is parted into pages that it names.

    python tests/tools/rules/writing/folders_rule.py
"""

import sys
from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path

from tests.tools.rules.refusing import told, tracked_files

ROOT = Path(__file__).resolve().parents[4]
MOST, LEAST = 16, 3
PAGE_LINES = 130  # chosen: two sheets of paper, a table of files and a page of text
# They tell Python that a folder is a package, and type checkers that it has types; readers nothing
_MARKERS = ("py.typed", "__init__.py")
WIDE = ("host_bridge/cli/commands",)  # one file each of what there are so many of
ROS_PACKAGES = ("host_bridge/ros2/tandem_ros/", "tests/ros/messages/")
MOST_FEW = 5  # exceptions: with more of them the rule would be none
FEW = {
    ".ci": "the one entry of what checks every change",
    ".github": "its layout is the forge's",
    "host_bridge/station/page/scripts/map": "the map of the page, a thing of its own",
}


def entries(files: Iterable[str]) -> dict[str, set[str]]:
    """Return the names of the files and folders in each folder of these paths."""
    found: dict[str, set[str]] = defaultdict(set)
    for file in files:
        parts = file.split("/")
        for depth in range(1, len(parts)):
            found["/".join(parts[:depth])].add(parts[depth])
    return dict(sorted(found.items()))


def refusals(files: Iterable[str], few: Mapping[str, str] = FEW) -> list[str]:
    """List the folders with too many entries or too few. Raises ValueError if there is none."""
    folders = entries(files)
    if not folders:
        raise ValueError("no file in any folder")
    counts = {folder: len(names.difference(_MARKERS)) for folder, names in folders.items()}
    narrow = {
        folder: len(names)
        for folder, names in folders.items()
        if len(names) < LEAST and not f"{folder}/".startswith(ROS_PACKAGES)
    }
    found = [
        f"{folder}: {count} files and folders, {MOST} at most; part it by what its files do"
        for folder, count in counts.items()
        if count > MOST and folder not in WIDE
    ]
    found += [
        f"{folder}: {count} of the {LEAST} entries that make a folder; move them to the one above"
        for folder, count in narrow.items()
        if folder not in few
    ]
    found += [
        f"{it}: a row of FEW in folders_rule.py, needed no more" for it in few if it not in narrow
    ]
    if len(few) > MOST_FEW:
        found.append(f"FEW in folders_rule.py: {len(few)} rows, {MOST_FEW} at most")
    return found


def long_readmes(lines: Mapping[str, int]) -> list[str]:
    """List each README.md that is more than a page. Raises ValueError if there is none."""
    if not lines:
        raise ValueError("no README.md in any folder")
    return [
        f"{file}: {count} lines, {PAGE_LINES} at most; part it into pages, and name them there"
        for file, count in lines.items()
        if count > PAGE_LINES
    ]


def main() -> int:
    """Print what is refused; 1 if anything is."""
    readmes = [it for it in tracked_files(ROOT, "*README.md") if (ROOT / it).is_file()]
    lines = {it: len((ROOT / it).read_text("utf-8").splitlines()) for it in readmes}
    return told(refusals(tracked_files(ROOT)) + long_readmes(lines))


if __name__ == "__main__":
    sys.exit(main())
