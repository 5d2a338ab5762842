"""Refuses a class name that stands for two things.

Whoever reads ``Recording`` in one file must not have to ask which of two it is. Private classes
are left alone, as nobody else reads them. A message of the wire and the report that the host makes
of it are one thing in two forms, and bear one name; so do a class and the interface of it.

    python tests/tools/rules/writing/class_names_rule.py
"""

import ast
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path

from tests.tools.rules.refusing import told, tracked_files

ROOT = Path(__file__).resolve().parents[4]
PRODUCT = ("calibration/", "firmware/", "hardware/", "host_bridge/", "sim_mock/")
# The two forms of one thing: its message, and what the host reads in it or says with it
WIRE = "firmware/protocol/"
HOST_FORMS = ("host_bridge/core/reports.py", "host_bridge/core/commands.py")
ONE_THING = {
    "Starts": "the launcher's record, and the interface by which the program sees it",
    "micropython": "the module's stand-in for CPython, and its interface for the type checker",
}


def classes_of(file: str, text: str) -> Iterator[str]:
    """Yield the names of the public classes that a file defines."""
    for node in ast.walk(ast.parse(text, file)):
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            yield node.name


def is_one_thing(files: list[str]) -> bool:
    """Return whether these are a message of the wire and the host's form of it."""
    first, *others = sorted(files)
    return first.startswith(WIRE) and len(others) == 1 and others[0] in HOST_FORMS


def refusals(texts: Mapping[str, str], one_thing: Mapping[str, str] = ONE_THING) -> list[str]:
    """List the names with two meanings. Raises ValueError if there is nothing to look at."""
    places: dict[str, list[str]] = defaultdict(list)
    for file, text in texts.items():
        for name in classes_of(file, text):
            places[name].append(file)
    if not places:
        raise ValueError("no class")
    twice = {name: files for name, files in places.items() if len(files) > 1}
    return [
        f"{name}: a class of {' and of '.join(files)}: rename the one that fewer files import"
        for name, files in sorted(twice.items())
        if name not in one_thing and not is_one_thing(files)
    ] + [
        f"{name}: has its reason in class_names_rule.py, and needs none any more"
        for name in one_thing
        if name not in twice
    ]


def main() -> int:
    """Print what is refused; 1 if anything is."""
    files = [
        file
        for file in tracked_files(ROOT, "*.py")
        if file.startswith(PRODUCT) and (ROOT / file).is_file()
    ]
    return told(refusals({file: (ROOT / file).read_text(encoding="utf-8") for file in files}))


if __name__ == "__main__":
    sys.exit(main())
