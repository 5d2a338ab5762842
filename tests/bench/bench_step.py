"""What a step of the car's program costs: ``python tests/bench/bench_step.py``.

Counted in machine instructions under valgrind and in CPython's bytecode, which the machine's load
does not change, and timed under MicroPython. What that is on an RP2040 is estimated: a few things
were timed on one, and are counted here as a step is, which gives nanoseconds per instruction.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sim_mock import micropython
from tests.bench.instructions import Counted, counted
from tests.bench.sheet import Cell, Sheet, publish
from tests.bench.step_scene import CASES, PARTS

ROOT = Path(__file__).resolve().parents[2]
ON_BOARD = Path(__file__).with_name("step_on_board.py")
AIM_MS = 10.0  # a step at 100 Hz
# Microseconds on an RP2040 at 125 MHz, MicroPython 1.28, on a model of the chip and its flash cache
CHIP_US = {"loop": 6.0, "native_loop": 3.1, "call": 8.3, "pack": 56.0}
MHZ = (125, 200)
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


def ns_per_instruction(machine: Counted) -> dict[str, float]:
    """Of an RP2040 at 125 MHz, from each thing that was timed on one."""
    return {name: CHIP_US[name] * 1000 / count for name, count in machine.turns.items()}


def on_chip(machine: Counted) -> Iterator[tuple[Cell, ...]]:
    rates = ns_per_instruction(machine).values()
    for (name, *_), count in zip(CASES, machine.steps, strict=True):
        row: list[Cell] = [name]
        for mhz in MHZ:
            low, high = (count * rate(rates) / 1e6 * MHZ[0] / mhz for rate in (min, max))
            row += [f"{low:.1f} to {high:.1f}", verdict(low, high)]
        yield tuple(row)


def verdict(low_ms: float, high_ms: float) -> str:
    if high_ms <= AIM_MS:
        return "fits"
    return "does not fit" if low_ms > AIM_MS else "not certain"


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
    if machine:
        rates = ns_per_instruction(machine)
        yield Sheet(
            f"the same on an RP2040, in ms, estimated; a step has {AIM_MS:g}",
            ("case", *(cell for mhz in MHZ for cell in (f"{mhz} MHz", f"at {mhz}"))),
            list(on_chip(machine)),
            (
                "from instructions here, and ns per instruction of what was timed at 125 MHz: "
                + ", ".join(f"{name} {rate:.1f}" for name, rate in rates.items()),
                f"{MHZ[1]} MHz: as if the flash kept pace; no board was asked",
            ),
        )


if __name__ == "__main__":
    publish("step", measure)
