"""What a step of the car's program costs: ``python tests/bench/step/bench_step.py``.

Counted in machine instructions under valgrind and in CPython's bytecode, which the machine's load
does not change, and timed under MicroPython. What that is on a chip is estimated by steps that were
timed on one: hardware/boards/step_times.csv, which ``python -m tests.studies.chip_steps`` writes.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from sim_mock.runtime import micropython
from tests.bench.step.calibrated import WITHIN, Fit, estimates, table
from tests.bench.step.instructions import Counted, counted
from tests.bench.step.step_scene import CASES, PARTS
from tests.bench.support.sheet import Cell, Sheet, publish

ROOT = Path(__file__).resolve().parents[3]
ON_BOARD = Path(__file__).with_name("step_on_board.py")
AIM_MS = 10.0  # a step at 100 Hz
NOT_MEASURED = "not measured"
RUNS = 3  # the best counts: the others were disturbed


def run(command: list[str]) -> dict[str, Any]:
    environment = {**os.environ, "MICROPYPATH": str(ROOT), "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [*command, str(ON_BOARD)], env=environment, capture_output=True, check=True, text=True
    )
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def timed() -> dict[str, dict[str, Any]]:
    """By case; empty without a MicroPython of 32 bits."""
    command = micropython.find(32)
    runs = [run(command) for _ in range(RUNS)] if command else []
    return {name: min((found[name] for found in runs), key=_mean) for name in (runs or [{}])[0]}


def _mean(row: dict[str, Any]) -> float:
    mean: float = row["mean_us"]
    return mean


def costs(times: dict[str, dict[str, Any]], machine: Counted | None) -> Iterator[tuple[Cell, ...]]:
    bytecode = run([sys.executable])
    for number, (name, *_) in enumerate(CASES):
        thousands = machine.steps[number] / 1000 if machine else NOT_MEASURED
        time_us = times[name]["mean_us"] if times else NOT_MEASURED
        yield name, thousands, bytecode[name]["instructions"], bytecode[name]["calls"], time_us


def parts(times: dict[str, dict[str, Any]], machine: Counted | None) -> Iterator[tuple[Cell, ...]]:
    for at, (name, _) in enumerate(PARTS):
        if machine:
            yield (name, *(case[at] / 1000 for case in machine.parts))
        elif times:
            yield (name, *(times[case[0]]["parts_us"][at] for case in CASES))


def on_chip(machine: Counted, fits: Sequence[Fit]) -> Iterator[tuple[Cell, ...]]:
    """Of each case above, on each model of a chip, with the dearest wiring's own parts."""
    for (name, *_), count in zip(CASES, machine.steps, strict=True):
        took = [count * fit.instruction_ns / 1e6 + max(fit.own_us.values()) / 1000 for fit in fits]
        yield (name, *(cell for ms in took for cell in (ms, verdict(ms))))


def verdict(ms: float) -> str:
    return "fits" if ms <= AIM_MS else "does not fit"


def measure() -> Iterator[Sheet]:
    """What a step costs, its parts, and what an RP2040 would make of it."""
    machine, times = counted(), timed()
    yield Sheet(
        "a step of the car's program",
        ("case", "1000 instructions", "bytecodes", "calls", "us here"),
        list(costs(times, machine)),
        (
            "1000 instructions: of the 64-bit MicroPython, under valgrind, no line driver",
            "bytecodes, calls: CPython's; most of what is viper on a board is C here",
            f"us here: MicroPython, 32 bit, the least mean of {RUNS} runs",
        ),
    )
    yield Sheet(
        f"its parts, {'1000 instructions' if machine else 'us here'}",
        ("part", *(name.split(",")[0] for name, *_ in CASES)),
        list(parts(times, machine)),
    )
    fits, found = estimates()
    if machine and fits:
        yield Sheet(
            f"the same on a chip, in ms, estimated; a step has {AIM_MS:g}",
            ("case", *(cell for fit in fits for cell in (fit.model, f"on {fit.model}"))),
            list(on_chip(machine, fits)),
            [_basis(fit) for fit in fits],
        )
    if found:
        yield Sheet(
            f"the estimate beside what the chip took, ms; within {WITHIN:.0%} is a pass",
            ("chip", "situation", "1000 instructions", "took", "estimate", "off", ""),
            list(table(found)),
            sorted({f"took: {it.row.provenance}" for it in found}),
        )


def _basis(fit: Fit) -> str:
    parts = ", ".join(f"{w} over {link} {us:.0f}" for (w, link), us in fit.own_us.items())
    return f"{fit.model}: {fit.instruction_ns:.1f} ns an instruction; us of its own parts: {parts}"


if __name__ == "__main__":
    publish("step", measure)
