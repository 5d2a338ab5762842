"""Keeps what became of a mutant under tests, so that a run that was ended goes on where it was.

A verdict is filed under the content of what it came of: the mutated file, the mutant, the tests and
what of ``tests`` they import. Where one of these changes it is not found again, and the mutant is
tried again. What else the tests run is not part of it: without the
file all is tried again.
"""

import ast
import functools
import hashlib
import sys
from pathlib import Path

from tests.mutants import chosen
from tests.mutants.mistakes.mutations import Mutant
from tests.mutants.trial import trials

_FORM = "1"  # another one where a verdict comes to mean something else
_VERDICTS = (trials.KILLED, trials.SURVIVED, trials.TIMED_OUT)


class Kept:
    """In a file of lines, each written as soon as it is known; of two the later one counts."""

    def __init__(self, root: Path, path: Path) -> None:
        self._root = root
        self._path = path
        self._verdicts = _read(path)

    def get(self, mutant: Mutant, tier: trials.Tier) -> str | None:
        return self._verdicts.get(self._name(mutant, tier))

    def put(self, mutant: Mutant, tier: trials.Tier, verdict: str) -> None:
        name = self._name(mutant, tier)
        self._verdicts[name] = verdict
        with self._path.open("a") as file:
            file.write(f"{name} {verdict}\n")

    def _name(self, mutant: Mutant, tier: trials.Tier) -> str:
        code = _code(trials.source_of(self._root, mutant.file))
        return _digest(_FORM, code, repr(mutant.key), _tests(self._root, tier.tests))


def _read(path: Path) -> dict[str, str]:
    """A line that was cut off is none."""
    lines = path.read_text().splitlines() if path.exists() else []
    pairs = (line.partition(" ") for line in lines)
    return {name: verdict for name, _, verdict in pairs if verdict in _VERDICTS}


def _digest(*texts: str) -> str:
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()[:32]


@functools.cache
def _code(source: str) -> str:
    """Of the code alone: a comment changes nothing."""
    return _digest(ast.dump(ast.parse(source)))


@functools.cache
def _tests(root: Path, tests: tuple[str, ...]) -> str:
    """Of the tests in these files and folders, and of the Python that runs them."""
    files: list[str] = []
    for test in tests:
        path = root / test
        inside = sorted(path.rglob("*.py")) if path.is_dir() else [path]
        files += [str(file.relative_to(root)) for file in inside]
    every = sorted(chosen.stands_on(root, files))
    version = ".".join(map(str, sys.version_info[:2]))
    return _digest(version, *files, *(f"{file}\n{(root / file).read_text()}" for file in every))
