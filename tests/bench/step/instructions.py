"""Machine instructions of a step, of its parts, and of the situations that a chip was timed in.

valgrind counts them, so that they are the same on a busy machine; see ``step_counted.py``.
"""

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from sim_mock.runtime import micropython
from tests.bench.step.step_scene import CASES, PARTS

ROOT = Path(__file__).resolve().parents[3]
COUNTED = Path(__file__).with_name("step_counted.py")
_OPTIONS = (
    "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null",
    "--trace-children=yes",
)  # fmt: skip
_TOTAL = re.compile(r"==(\d+)== I +refs: +([\d,]+)")
_WITHIN_S = 500.0

Children = dict[tuple[str, str], dict[str, int]]  # (what, which step) -> how far -> instructions


@dataclass(frozen=True)
class Counted:
    """Instructions of the 64-bit unix port: means over a few steps, by case."""

    steps: list[float]
    parts: list[list[float]]


def counted() -> Counted | None:
    """None where there is no valgrind, or no 64-bit MicroPython."""
    children = _run()
    return None if children is None else _read(children)


def counted_in(situations: Sequence[tuple[bytes, str, int]]) -> list[float] | None:
    """Of a step of each: a stored configuration, a state, how many messages it hears."""
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
        for number, (image, state, heard) in enumerate(situations):
            file.write(f"{number} {image.hex() or '-'} {state} {heard}\n")
        file.flush()
        children = _run(file.name)
    if children is None:
        return None
    found = []
    for number in range(len(situations)):
        steps = [it for (what, _), it in children.items() if what == f"situation-{number}"]
        took = [
            it["step"] - 2 * it["end"] + it["begin"] for it in steps
        ]  # each child costs so much
        found.append(sum(took) / len(took))
    return found


def _run(*words: str) -> Children | None:
    command = micropython.find(64)
    valgrind = shutil.which("valgrind")
    if command is None or valgrind is None:
        return None
    done = subprocess.run(
        [valgrind, *_OPTIONS, *command, str(COUNTED), *words],
        env={**os.environ, "MICROPYPATH": str(ROOT)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=True,
        text=True,
        timeout=_WITHIN_S,
    )
    return _children(done.stdout, done.stderr)


def _children(said: str, totals: str) -> Children:
    of_process = {found[1]: int(found[2].replace(",", "")) for found in _TOTAL.finditer(totals)}
    children: Children = {}
    for line in said.splitlines():
        process, what, step, how_far = line.split()
        children.setdefault((what, step), {})[how_far] = of_process[process]
    return children


def _read(children: Children) -> Counted:
    steps, parts = [], []
    for number in range(len(CASES)):
        cases = [found for (what, _), found in children.items() if what == str(number)]
        steps.append(sum(map(_step_of, cases)) / len(cases))
        each = [_parts_of(found) for found in cases]
        parts.append([sum(part) / len(cases) for part in zip(*each, strict=True)])
    return Counted(steps, parts)


def _brother(found: dict[str, int]) -> float:
    """What making one child costs its parent, and so its younger brothers."""
    return (found["end"] - found["0"]) / (len(PARTS) + 2)


def _step_of(found: dict[str, int]) -> float:
    return found["step"] - found["0"] - (len(PARTS) + 1) * _brother(found)


def _parts_of(found: dict[str, int]) -> list[float]:
    brother = _brother(found)
    return [found[str(i + 1)] - found[str(i)] - brother for i in range(len(PARTS))]
