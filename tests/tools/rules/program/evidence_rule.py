"""Refuses ``all`` in tests/: it is true of nothing, and a check that looked at nothing would pass.

``every`` of tests/support/evidence.py says the same of something and fails on nothing. Where
nothing is good evidence too, or in a program that runs by itself, ``not any`` says so.

    python tests/tools/rules/program/evidence_rule.py [FOLDER]
"""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

from tests.tools.rules.refusing import told

ROOT = Path(__file__).resolve().parents[4]


def lines_with_all(text: str) -> Iterator[int]:
    """The lines that use ``all``: called, or handed on as a function."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Name) and node.id == "all":
            yield node.lineno


def refusals(folder: Path) -> list[str]:
    """Each use below ``folder``, with its file and line."""
    return [
        f"{path.relative_to(folder)}:{line}: all() is true of nothing; "
        "say every() of tests/support/evidence.py, or not any()"
        for path in sorted(folder.rglob("*.py"))
        for line in sorted(lines_with_all(path.read_text(encoding="utf-8")))
    ]


def main(words: list[str]) -> int:
    """Print what is refused; 1 if anything is."""
    return told(refusals(Path(words[0]) if words else ROOT / "tests"))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
