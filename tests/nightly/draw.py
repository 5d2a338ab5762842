"""Draws, by a seed, some of the test files that `make test` leaves out, and runs them."""

import random
import re
import shlex
import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from tests.nightly import reading
from tests.nightly.parts import PYTEST, PYTHON, ROOT
from tests.nightly.running import Ended
from tests.tools.running import times

_LISTED_WITHIN_S = 300.0  # half a minute on an idle machine
_OVERTIME = 1.5  # so many times the minutes, and what still runs is killed
_VARIABLE = re.compile(r"^TEST_IS *:?= *(.+)$", re.MULTILINE)
_COLLECTED = re.compile(r"^(tests/\S+\.py): \d+$", re.MULTILINE)

Runner = Callable[[Sequence[str], str, float], Ended]  # command, file, limit


def left_out_of_test(makefile: str) -> str:
    """The marker expression of what `make test` does not run and a night does."""
    found = _VARIABLE.search(makefile)
    if not found:
        raise ValueError("the Makefile defines no TEST_IS, which says what make test runs")
    return f"not soak and not ({found[1].strip()})"


def collected(expression: str) -> list[str]:
    """The files that have such tests, asked of pytest. Raises RuntimeError where there are none."""
    words = [PYTHON, "-m", "pytest", "--collect-only", "-qq", "-n", "0", "-m", expression]
    try:
        done = subprocess.run(
            words, cwd=ROOT, capture_output=True, text=True, timeout=_LISTED_WITHIN_S, check=False
        )
    except subprocess.TimeoutExpired as late:
        raise RuntimeError(f"pytest did not list its tests in {late.timeout} s") from None
    files = sorted(_COLLECTED.findall(done.stdout))
    if done.returncode or not files:
        end = "\n".join(reading.last_lines(done.stdout + done.stderr))
        raise RuntimeError(f"no test file to draw from ({shlex.join(words)}):\n{end}")
    return files


def known_s(folder: Path) -> dict[str, float]:
    """Seconds of test files, as the parts of a night took them on two workers."""
    seconds: dict[str, float] = {}
    for path in folder.glob("*.xml"):
        for test in times.read(path):
            words = test.name.split(".")
            last = next((i for i, word in enumerate(words) if word.startswith("test_")), 0)
            file = "/".join(words[: last + 1]) + ".py"
            seconds[file] = seconds.get(file, 0.0) + test.seconds / 2
    return seconds


def drawn(
    files: Sequence[str], known: Mapping[str, float], expression: str, minutes: float, seed: int,
    run: Runner, now_s: Callable[[], float], says: Callable[[str], None],
) -> int:  # fmt: skip
    """Run files in the order of the lot, until the minutes are over; returns the exit code."""
    begun_s, limit_s = now_s(), 60 * minutes
    order = random.Random(seed).sample(files, len(files))
    totals = {"passed": 0, "failed": 0, "skipped": 0, "not measured": 0}
    codes: list[int | None] = []
    for file in order:
        rest_s = limit_s - (now_s() - begun_s)
        if rest_s <= 0:
            break
        if known.get(file, 0.0) > rest_s:
            continue
        ended = run((*PYTEST, "-m", expression, file), file, rest_s + (_OVERTIME - 1) * limit_s)
        codes.append(ended.code)
        _add(totals, ended)
        says(f"{file}: {_told(ended)}")
        if ended.code not in (0, reading.SOME_NOT_MEASURED):
            says(ended.text)
    says(f"seed {seed}: {len(codes)} of {len(files)} files in {(now_s() - begun_s) / 60:.1f} min")
    unfinished = codes.count(None)
    words = [f"{many} {name}" for name, many in totals.items()]
    says(", ".join([*words, *([f"{unfinished} file not finished"] if unfinished else [])]))
    return _code(codes)


def _add(totals: dict[str, int], ended: Ended) -> None:
    for name, many in reading.counts(ended.text).items():
        totals[name] += many
    totals["not measured"] += len(reading.not_measured(ROOT)) if ended.code else 0


def _told(ended: Ended) -> str:
    if ended.code is None:
        return f"killed after {ended.seconds:.0f} s: not finished"
    return reading.closing_line(ended.text) or f"exit code {ended.code}, no closing line"


def _code(codes: Sequence[int | None]) -> int:
    if any(code not in (0, None, reading.SOME_NOT_MEASURED) for code in codes):
        return 1
    return 0 if codes and set(codes) == {0} else reading.SOME_NOT_MEASURED
