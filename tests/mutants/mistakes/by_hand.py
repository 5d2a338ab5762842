"""Mistakes that somebody could make, which no operator does: changes of meaning, not of a sign."""

import ast
import sys
from pathlib import Path
from typing import NamedTuple

from tests.mutants.mistakes.mutations import Mutant

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

LIST = Path(__file__).with_name("by_hand.toml")
OPERATOR = "by hand"
CPU_S = 200
_FIELDS = {"what", "file", "before", "after", "tests"}


class Mistake(NamedTuple):
    """``before`` is in the file once, and ``after`` stands there instead; ``tests`` notice it."""

    what: str
    file: str
    before: str
    after: str
    tests: tuple[str, ...]

    def mutant(self, source: str) -> Mutant:
        line = source[: source.index(self.before)].count("\n") + 1
        return Mutant(self.file, -1, line, self.what, OPERATOR, self.before, self.after, 1)

    def tree(self, source: str) -> ast.Module:
        return ast.parse(source.replace(self.before, self.after))


def read(path: Path, root: Path) -> list[Mistake]:
    """Raises ValueError for a row that says too little or fits its file no more."""
    rows = tomllib.loads(path.read_text())["mistake"]
    return [_parsed(row, root) for row in rows]


def _parsed(row: dict[str, object], root: Path) -> Mistake:
    what = row.get("what")
    if set(row) != _FIELDS or not row["tests"] or row["before"] == row["after"]:
        raise ValueError(f"{LIST.name}: {what}: expected {sorted(_FIELDS)}, got {sorted(row)}")
    texts = (str(row[name]) for name in ("what", "file", "before", "after"))
    assert isinstance(row["tests"], list)
    mistake = Mistake(*texts, tuple(row["tests"]))
    found = (root / mistake.file).read_text().count(mistake.before)
    if found != 1:
        raise ValueError(
            f"{LIST.name}: {what}: expected {mistake.before!r} once in {mistake.file}, "
            f"found {found}; make the same mistake in what is there now"
        )
    return mistake
