"""``python -m tests.bench.chip_steps PORT``: what a step took on a chip, into the table of them.

The situations that one board with one wiring can be in: it stands by with and without a host that
claims, drives with one, two and four sources, and has stopped. Each row is the time of its steps on
the chip, interrupts included, by the chip's own clock (host_bridge/hil/on_board/steps.py). The
table, hardware/boards/step_times.csv, is what ``tandem vehicles --check`` refuses by and what
``bench_step.py`` is calibrated on: a row that is measured anew takes the place of the old one.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from firmware.protocol import codes, messages
from host_bridge.config.boards import load_board
from host_bridge.config.boards.measured import COLUMNS, TABLE, Measured, read_measured
from host_bridge.hil import on_chip
from host_bridge.hil.as_flashed import Car, NotDriving
from host_bridge.hil.histogram import summary
from host_bridge.hil.small_host import GAMEPAD, RELEASED, ROS2, SCRIPT, SEAT
from tests.bench import chip_tables

EPILOG = """examples:
  python -m tests.bench.chip_steps /dev/ttyACM0 --board pico --wiring f1tenth --how "a Pico"
  python -m tests.bench.chip_steps /dev/pts/3 --board pico --wiring autorally --patience 30 \\
    --how "emulated RP2040, MicroPython 1.28.0" --model auto

WHEELS OFF THE GROUND: the car is armed, and driven at standstill. A board without a configuration
gives the row of that. Then: python tests/bench/bench_step.py, which calibrates and compares."""
SOURCES = (SCRIPT, SEAT, GAMEPAD, ROS2)
FEW = 40  # steps that a row needs


def drive(seconds: float, say: Callable[[str], None]) -> Callable[[Car], None]:
    """All situations in one go; what it hears in each step says which one it was."""

    def through(car: Car) -> None:
        say("stands by")
        _for(car, seconds, 0, RELEASED)
        if car.host.status.faults:
            return
        say("stands by and hears")
        _for(car, seconds, 1, RELEASED)
        car.arm()
        for sources in (1, 2, 4):
            say(f"drives with {sources}")
            _for(car, seconds, sources)
            if car.host.state != codes.ACTIVE:
                raise NotDriving(f"it stopped by itself: {car.why()}")
        car.host.say(messages.Stop, token=1)
        say("has stopped")
        _for(car, seconds, 0, RELEASED)

    return through


def _for(car: Car, seconds: float, sources: int, deadman: int = codes.HELD) -> None:
    begun_us = car.port.car_us
    while car.port.car_us - begun_us < seconds * 1e6:
        for source in SOURCES[:sources] * car.claims_a_beat:
            car.claim_of(source, deadman)
        car.host.beat()


def rows_of(found: Any, args: argparse.Namespace, facts: dict[str, Any]) -> list[Measured]:
    """Of the histograms by kind and messages heard."""
    wanted = {("standing", 0), ("standing", 1), ("stopped", 0)}
    wanted |= {("driving", count) for count in (1, 2, 4, 8)}  # at 20 ms each source twice
    rows = []
    for row in found["rows"]:
        if (row["kind"], row["heard"]) not in wanted or row["steps"] < FEW:
            continue
        took = summary(row)
        rows.append(
            Measured(
                chip=load_board(args.board).chip.name, wiring=args.wiring,
                is_configured=not facts["faults"],
                link=args.link, model=args.model, mhz=found["mhz"], state=row["kind"],
                heard=row["heard"], steps=row["steps"], mean_us=round(took["mean_ms"] * 1000),
                p99_us=round(took["p99_ms"] * 1000), longest_us=row["longest_us"],
                program=facts["program"], date=time.strftime("%Y-%m-%d", time.gmtime()),
                how=args.how,
            )
        )  # fmt: skip
    return rows


def main() -> int:
    """Measure, show, write."""
    parser = chip_tables.parser_of("chip_steps", __doc__, EPILOG)
    parser.add_argument("--link", default="usb", choices=("usb", "uart"))
    parser.add_argument("--model", default="", help="of an emulated chip's flash cache")
    parser.add_argument("--seconds", type=float, default=2.0, help="of each situation")
    parser.add_argument("--out", type=Path, default=TABLE)
    args = parser.parse_args()
    bench = chip_tables.bench_of(args)
    facts: dict[str, Any] = {}
    facts["program"] = next(iter(on_chip.facts(bench)))[0]["program_hash"]

    def through(car: Car) -> None:
        facts["faults"] = car.host.status.faults
        drive(args.seconds, chip_tables.say)(car)

    found = on_chip.watched(bench, "steps", 0, through)
    rows = rows_of(found, args, facts)
    for row in rows:
        chip_tables.say(f"{' '.join(map(str, row.situation))}: {row.mean_us} us, p99 {row.p99_us}")
    table = chip_tables.merge(read_measured(args.out), rows, lambda row: row.situation)
    chip_tables.write(args.out, COLUMNS, table)
    chip_tables.say(found["end"] or f"{len(rows)} rows in {args.out}")
    return 1 if found["end"] or not rows else 0


if __name__ == "__main__":
    sys.exit(main())
