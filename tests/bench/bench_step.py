"""What a step of the car's program costs: ``python tests/bench/bench_step.py``.

Counted in bytecode instructions under CPython, which the machine's load does not change, and timed
under MicroPython. What that is on an RP2040 is estimated from two things that were measured on one
and are timed here as well, a turn of a loop and a call: an estimate, until a board was asked.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sim_mock import micropython
from tests.bench.sheet import Cell, Sheet, publish, verdict

ROOT = Path(__file__).resolve().parents[2]
ON_BOARD = Path(__file__).with_name("step_on_board.py")
AIM_MS = 10.0  # a step at 100 Hz
# Microseconds on an RP2040 at 125 MHz (MicroPython 1.28), of bytecode
LOOP_US, CALL_US = 6.0, 8.3
RUNS = 3  # the best counts: the others were disturbed


def run(command: list[str]) -> dict[str, Any]:
    environment = {**os.environ, "MICROPYPATH": str(ROOT), "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [*command, str(ON_BOARD)], env=environment, capture_output=True, check=True, text=True
    )
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def best(command: list[str]) -> dict[str, Any]:
    runs = [run(command) for _ in range(RUNS)]
    cases = runs[0]["cases"]
    for name, row in cases.items():
        row["mean_us"] = min(found["cases"][name]["mean_us"] for found in runs)
    scales = {name: min(found[name] for found in runs) for name in ("loop_us", "call_us")}
    return {"cases": cases, **scales}


def rows() -> Iterator[tuple[Cell, ...]]:
    counted = run([sys.executable])["cases"]
    command = micropython.find(32)
    timed = best(command) if command else None
    for name, row in counted.items():
        if timed is None:
            yield name, row["instructions"], None, None, None, "no MicroPython on this machine"
            continue
        step_us = timed["cases"][name]["mean_us"]
        low_ms = step_us * CALL_US / timed["call_us"] / 1000
        high_ms = step_us * LOOP_US / timed["loop_us"] / 1000
        low_ms, high_ms = sorted((low_ms, high_ms))
        yield name, row["instructions"], step_us, low_ms, high_ms, verdict(high_ms <= AIM_MS)


def measure() -> Iterator[Sheet]:
    """The one table."""
    yield Sheet(
        "a step of the car's program",
        ("case", "instructions", "us here", "RP2040 ms, at best", "at worst", "10 ms"),
        list(rows()),
        (
            "instructions: CPython's bytecode, CRC and COBS included, which are machine code on a "
            "board",
            f"us here: MicroPython, 32 bit, the least mean of {RUNS} runs; without the line's "
            "driver",
            "RP2040: 125 MHz, scaled by a call at best and a loop's turn at worst; estimated",
        ),
    )


if __name__ == "__main__":
    publish("step", measure)
