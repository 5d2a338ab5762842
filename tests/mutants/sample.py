"""Draws mutants by lot from all files of the product, and asks the tests that cover each.

Each is tried in a copy of the tree, in the file itself: programs that a test starts, and a
MicroPython, run the mutant as well. What fails there is asked again of the unchanged source: a test
that fails in both shows nothing and is left out.
"""

import ast
import functools
import itertools
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.mutants.covering import Covering
from tests.mutants.mistakes.mutations import Mutant, many, mutants_of, mutated
from tests.mutants.trial import kept, trials
from tests.mutants.trial.trying import line

LIMIT_S = 400  # on the wall; the tests of one file take a fraction of it
_LENT = (".venv", ".micropython", ".ros")  # what tests need of what no repository holds
_LOGIC = "not (process or browser or ros or micropython or soak or hil or exhaustive or fit)"
_FOR_A_DAY = "(smoke or not (soak or hil or exhaustive or fit or browser or ros))"


class Rung(NamedTuple):
    """Tests that are asked together: how many files of them, the nearest, and of which kinds."""

    name: str
    many: int | None
    kinds: str


# First what starts no program: it is soon over, and the same at any load
RUNGS = (
    Rung("the nearest tests", 4, _LOGIC),
    Rung("tests of logic", None, _LOGIC),
    Rung("programs", None, f"{_FOR_A_DAY} and not ({_LOGIC})"),
)
_FAILED = re.compile(r"^(?:FAILED|ERROR) ([^\s\[]+)", re.MULTILINE)
_PASSED = (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED)
_FAIL_ANYWAY_MOST = 5  # of the tests that are asked: with more of them nothing is known


class Drawn(NamedTuple):
    """A mutant that was drawn, its place in the draw from 1, and the tests that cover it."""

    place: int
    mutant: Mutant
    tests: tuple[str, ...]

    @property
    def room(self) -> str:
        """The folder below one of the product's that it is in; the product's own at its head."""
        return "/".join(Path(self.mutant.file).parent.parts[:2])


def draw(
    root: Path, how_many: int, seed: int, is_explained: Callable[[Mutant], bool]
) -> list[Drawn]:
    """The first so many of all mutants of all files in an order by lot, less what is explained."""
    covering = Covering(root)
    every = [
        (file, number)
        for file in covering.files
        for number in range(many(trials.source_of(root, file)))
    ]
    random.Random(seed).shuffle(every)
    mutants = functools.cache(lambda file: mutants_of(file, trials.source_of(root, file)))
    drawn = (mutants(file)[number] for file, number in every)
    counted = itertools.islice((it for it in drawn if not is_explained(it)), how_many)
    return [Drawn(place, it, covering.of(it.file)) for place, it in enumerate(counted, 1)]


class Copy:
    """A copy of the tree as git knows it, in which one file at a time is another."""

    def __init__(self, root: Path, folder: Path) -> None:
        self._root, self.folder = root, folder
        self._changes = 0
        for name in _files(root):
            target = folder / name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(root / name, target)
        for name in _LENT:
            if (root / name).exists():
                (folder / name).symlink_to(root / name)

    def put(self, file: str, tree: ast.Module) -> None:
        """Writes a file as this tree, with a time of its own: bytecode is kept by size and time."""
        self._changes += 1
        (self.folder / file).write_text(ast.unparse(tree))
        os.utime(self.folder / file, (self._changes, self._changes))

    def take_back(self, file: str) -> None:
        shutil.copy2(self._root / file, self.folder / file)

    def run(self, words: Sequence[str]) -> tuple[int | None, str]:
        """pytest's exit code, or None if it was not over in time; and what it printed."""
        command = (sys.executable, "-m", "pytest", "-q", "-x", "-rfE", "--tb=no",
                   *trials.PYTEST[2:], *words)  # fmt: skip
        environment = {**os.environ, **trials.ENVIRONMENT, "PYTHONPATH": str(self.folder)}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)  # each run would compile it all anew
        with subprocess.Popen(
            command, cwd=self.folder, env=environment, text=True, start_new_session=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        ) as run:  # fmt: skip
            try:
                said = run.communicate(timeout=LIMIT_S)[0]
                return run.returncode, said
            except subprocess.TimeoutExpired:
                return None, ""
            finally:
                _end(run)


def _end(run: subprocess.Popen[str]) -> None:
    """Kills it, and what its tests may have left."""
    try:
        os.killpg(run.pid, signal.SIGKILL)
    except ProcessLookupError:
        return


def _files(root: Path) -> list[str]:
    """All that is in git, and what is new and not ignored."""
    listed = subprocess.run(
        ("git", "ls-files", "-co", "--exclude-standard"),
        cwd=root, capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    return [name for name in listed.splitlines() if (root / name).is_file()]


def verdict_of(copy: Copy, root: Path, drawn: Drawn, rung: Rung) -> str:
    """Tells whether one of its tests of this rung fails that passes on the unchanged source.

    Unchanged means as it was, and written from its tree as well: without comments.
    """
    try:
        return _verdict(copy, root, drawn, rung)
    finally:
        copy.take_back(drawn.mutant.file)


def _verdict(copy: Copy, root: Path, drawn: Drawn, rung: Rung) -> str:
    file, source = drawn.mutant.file, trials.source_of(root, drawn.mutant.file)
    tests, left_out = list(drawn.tests[: rung.many]), list[str]()
    while tests and len(left_out) < _FAIL_ANYWAY_MOST:
        words = [*tests, "-m", rung.kinds, *(f"--deselect={it}" for it in left_out)]
        copy.put(file, mutated(source, drawn.mutant.number))
        code, said = copy.run(words)
        if code in _PASSED:
            return trials.SURVIVED
        copy.put(file, ast.parse(source))
        if code is None:
            return trials.SURVIVED if copy.run(words)[0] is None else trials.TIMED_OUT
        failed = _FAILED.findall(said)
        if copy.run(_again(failed, tests))[0] in _PASSED:
            return trials.KILLED
        tests = [it for it in tests if it not in failed]
        left_out += failed or ["?"]
    return trials.SURVIVED


def _again(failed: Sequence[str], tests: Sequence[str]) -> list[str]:
    """What is asked of the unchanged source: those tests, or that all can be imported."""
    functions = [it for it in failed if "::" in it]
    return functions or ["--collect-only", *(failed or tests)]


class Sample:
    """What was drawn, and what became of each."""

    def __init__(self, root: Path, drawn: Sequence[Drawn], known: kept.Kept) -> None:
        self._root, self._drawn, self._kept = root, drawn, known

    def verdicts(self) -> list[tuple[Drawn, str]]:
        """Of what was tried."""
        pairs = [(it, self._kept.get(it.mutant, _tier(it))) for it in self._drawn]
        return [(it, verdict) for it, verdict in pairs if verdict]

    def run(self, over_s: float | None) -> None:
        """Tries what is not known, one after the other; begins none after ``over_s``.

        First all are asked of what is soon over, and what is left of the other tests.
        """
        unknown = [it for it in self._drawn if not self._kept.get(it.mutant, _tier(it))]
        with tempfile.TemporaryDirectory(prefix="tandem-sample-") as folder:
            copy = Copy(self._root, Path(folder))
            for rung in RUNGS:
                unknown = self._left(copy, unknown, rung, over_s)

    def _left(
        self, copy: Copy, unknown: Sequence[Drawn], rung: Rung, over_s: float | None
    ) -> list[Drawn]:
        """Tries these, keeps what is decided; returns what the tests of this rung passed."""
        left = []
        for it in unknown:
            if over_s is not None and time.monotonic() > over_s:
                return left
            verdict = verdict_of(copy, self._root, it, rung)
            if verdict == trials.SURVIVED and rung is not RUNGS[-1]:
                left.append(it)
            else:
                self._kept.put(it.mutant, _tier(it), verdict)
            print(
                f"{it.place}: {rung.name}: {verdict}: {line(it.mutant)}",
                file=sys.stderr,
                flush=True,
            )
        return left


def _tier(drawn: Drawn) -> trials.Tier:
    return trials.Tier(tuple(sorted(drawn.tests)), LIMIT_S)


def table(verdicts: Sequence[tuple[Drawn, str]]) -> str:
    """A row for each room: drawn, and how many of them were noticed."""
    rows = [f"{'room':44} tried noticed"]
    for room in sorted({it.room for it, _ in verdicts}):
        of_room = [verdict for it, verdict in verdicts if it.room == room]
        noticed = len(of_room) - of_room.count(trials.SURVIVED)
        rows.append(f"{room:44}{len(of_room):6}{noticed:8}")
    return "\n".join(rows)
