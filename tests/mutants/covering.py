"""Finds the tests that cover a file of the product, by its row or else by who names it.

A file with a row in ``core.py`` is covered by the tests of its row. Besides, and for each file
without a row, these count: test modules that import it or say its name, those that bear its name in
the folder that mirrors its own, and those of that folder from which imports lead to it. Where
these are few the next ones follow, by the number of imports in between; where nothing leads there,
as to what is sent to a board, all of the nearest folder. The car's program has the whole car's
tests too.
"""

import ast
from collections import deque
from pathlib import Path
from typing import NamedTuple

from tests.mutants.core import PARTS, WHOLE_CAR, tiers
from tests.mutants.trial.trials import OURS

MOST = 30  # files of tests for one mutant: the nearest
_FEW = 12
# About sources as text, or about these tests, which a mistake anywhere would trip; or for hours
_APART = ("tests/mutants/", "tests/nightly/", "tests/tools/", "tests/bench/")


def product(root: Path) -> list[str]:
    """All files of Python of the product, as paths from the root on."""
    found = [path for room in OURS for path in (root / room).rglob("*.py")]
    # An empty file only makes its folder a package
    return sorted(str(path.relative_to(root)) for path in found if path.stat().st_size)


def _module(file: str) -> str:
    name = file.removeprefix("host_bridge/api/")  # a root of its own: pyproject.toml
    return name.removesuffix(".py").replace("/", ".").removesuffix(".__init__")


def _said(root: Path, file: str) -> set[str]:
    """The modules that it imports, and whatever it writes that could be a module or a file."""
    found: set[str] = set()
    tree = ast.parse((root / file).read_text())
    strings = _strings(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {name.name for name in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{name.name}" for name in node.names)}
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            found.add(node.value.partition(":")[0])
        elif isinstance(node, ast.JoinedStr):
            found.add("".join(_part(it, strings) for it in node.values))
    return found


def _strings(tree: ast.Module) -> dict[str, str]:
    """The names of strings at the head of a file, which tables of commands begin with."""
    return {
        target.id: node.value.value
        for node in tree.body
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant)
        for target in node.targets
        if isinstance(target, ast.Name) and isinstance(node.value.value, str)
    }


def _part(node: ast.expr, strings: dict[str, str]) -> str:
    """A part of an f-string, as far as it is known."""
    if isinstance(node, ast.Constant):
        return str(node.value)
    inner = node.value if isinstance(node, ast.FormattedValue) else node
    return strings.get(inner.id, "?") if isinstance(inner, ast.Name) else "?"


class _Way(NamedTuple):
    """How near a file of tests is: fewer come first."""

    is_of_another_name: bool
    imports: int
    folders_apart: int
    test: str


class Covering:
    """Who names whom, read once from the sources."""

    def __init__(self, root: Path) -> None:
        tests = [str(path.relative_to(root)) for path in (root / "tests").rglob("*.py")]
        self.files = product(root)
        by_name = {name: file for file in [*self.files, *tests] for name in (file, _module(file))}
        self._named_by: dict[str, list[str]] = {}
        for file in sorted([*self.files, *tests]):
            for named in sorted({by_name[it] for it in _said(root, file) if it in by_name}):
                self._named_by.setdefault(named, []).append(file)
        self._tests = [
            it for it in tests if Path(it).name.startswith("test_") and not it.startswith(_APART)
        ]

    def _distances(self, file: str) -> dict[str, int]:
        """How many imports lead to it, from each file that reaches it."""
        found, waiting = {file: 0}, deque([file])
        while waiting:
            near = waiting.popleft()
            for other in self._named_by.get(near, ()):
                if other not in found:
                    found[other] = found[near] + 1
                    waiting.append(other)
        return found

    def of(self, file: str) -> tuple[str, ...]:
        """The tests that cover it, its row's first."""
        mirrored = Path("tests", file).parent
        away = self._distances(file)
        ways = sorted(
            _Way(
                not _bears_its_name(test, file),
                away.get(test, MOST),
                _apart(Path(test).parent, mirrored),
                test,
            )
            for test in self._tests
            if test in away or _bears_its_name(test, file)
        )
        near = [
            way.test
            for way in ways
            if way.imports == 1 or not way.folders_apart or not way.is_of_another_name
        ]
        near = near or self._of_folder(mirrored)
        near += [way.test for way in ways if way.test not in near][: max(0, _FEW - len(near))]
        of_row = [test for part in PARTS if part.file == file for it in tiers(part)
                  for test in it.tests]  # fmt: skip
        whole = WHOLE_CAR if file.startswith("firmware/") else ()
        return tuple(dict.fromkeys([*of_row, *near[:MOST], *whole]))

    def _of_folder(self, folder: Path) -> list[str]:
        """All tests of this folder, or else of the first around it that has some."""
        for near in (folder, *folder.parents):
            found = [test for test in self._tests if Path(test).parent == near]
            if found:
                return sorted(found)
        return []


def _bears_its_name(test: str, file: str) -> bool:
    """In the folder that mirrors its own, or in one around that."""
    is_around = Path(test).parent in (Path("tests", file).parents)
    return is_around and Path(test).stem.startswith(f"test_{Path(file).stem}")


def _apart(one: Path, other: Path) -> int:
    """How many folders are between these two."""
    shared = sum(a == b for a, b in zip(one.parts, other.parts, strict=False))
    return len(one.parts) + len(other.parts) - 2 * shared
