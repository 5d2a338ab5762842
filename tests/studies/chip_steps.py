"""``python -m tests.studies.chip_steps PORT``: what a step took on a chip, into the table of them.

The situations that one board with one wiring can be in: it stands by with and without a host that
claims, drives with one source by a clock of its own, its box beside it where it has a key, with two
and four sources in its beat, and has stopped. Each row is the time of its steps on the chip,
interrupts included, by its own clock (host_bridge/deploy/hil/on_board/steps.py). By the table,
hardware/boards/step_times.csv, ``tandem vehicles --check`` refuses and ``tandem flash`` gives a
beat, and ``bench_step.py`` is calibrated on it. A row that is measured anew takes the place of the
old one.
"""

from __future__ import annotations

import argparse
import contextlib
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from firmware.protocol import codes, messages
from host_bridge.config.boards import load_board
from host_bridge.config.boards.measured import COLUMNS, TABLE, MeasuredSteps, read_measured
from host_bridge.deploy.flash.board.pairing_key import has_key
from host_bridge.deploy.hil import on_chip
from host_bridge.deploy.hil.bench import HilBench
from host_bridge.deploy.hil.bench import facts as facts_of
from host_bridge.deploy.hil.host.paced import CLAIM_EVERY_US
from host_bridge.deploy.hil.host.paced_car import NotDriving, PacedCar
from host_bridge.deploy.hil.host.small_host import GAMEPAD, RELEASED, ROS2, SCRIPT, SEAT
from host_bridge.deploy.hil.report.histogram import merged, summary
from sim_mock.board.pairing_keys import read_key_file
from tests.safety.support.paired_box import PairedBox
from tests.studies import chip_tables

EPILOG = """examples:
  python -m tests.studies.chip_steps /dev/ttyACM0 --board pico --wiring f1tenth --how "a Pico"
  python -m tests.studies.chip_steps /dev/ttyACM0 --board pico --wiring f1tenth --how "a Pico" \\
    --key KEY
  python -m tests.studies.chip_steps /dev/pts/3 --board pico --wiring autorally --patience 30 \\
    --how "emulated RP2040" --model auto

WHEELS OFF THE GROUND: the car is armed, and driven at standstill. A board without a configuration
gives the row of that. KEY is a file with the key that the board holds. chip.py does all of a board.
Then: python tests/bench/step/bench_step.py, which calibrates and compares."""
SOURCES = (SCRIPT, SEAT, GAMEPAD, ROS2)
FEW = 40  # steps that a row needs
BOX_EVERY_US = 20_006  # fifty words a second, by a clock of the box's own


class Few(RuntimeError):
    """Too few steps of a situation for a row of it."""


def one_source(car: PacedCar, seconds: float, key: bytes | None) -> int | None:
    """Stand by, and drive with one source by its own clock, the car's box beside it.

    Return the control periods missed driving; None of a car without a configuration, which stands.
    """
    with contextlib.ExitStack() as stack:
        if key is not None:
            box = PairedBox(car.host, key)
            stack.enter_context(car.host.own_times.every(BOX_EVERY_US, lambda: box.say(1)))
        _beats(car, seconds, lambda: None)
        if car.host.status.faults:
            return None
        car.arm()
        missed = int(car.drive_for(seconds, 1)["missed"])
        car.disarm()
        return missed


def many_sources(car: PacedCar, seconds: float, key: bytes | None) -> None:
    """Stand by and hear, drive with two and four sources in the car's beat, and stop."""
    _beats(car, seconds, lambda: car.claim_of(SCRIPT, RELEASED))
    car.arm()
    for sources in (2, 4):
        _beats(car, seconds, partial(_claims, car, sources))
        if car.host.state != codes.ACTIVE:
            raise NotDriving(f"it stopped by itself: {car.why()}")
    car.host.say(messages.Stop, token=1)
    _beats(car, seconds, lambda: None)


def _claims(car: PacedCar, sources: int) -> None:
    for source in SOURCES[:sources] * car.claims_a_beat:
        car.claim_of(source, codes.HELD)


def _beats(car: PacedCar, seconds: float, before_each: Callable[[], None]) -> None:
    begun_us = car.port.car_us
    while car.port.car_us - begun_us < seconds * 1e6:
        before_each()
        car.host.beat()


@dataclass(frozen=True)
class Run:
    """One start of the car and all that is driven in it, and the rows that come of it."""

    drive: Callable[[PacedCar, float, bytes | None], int | None]
    standing: tuple[int, ...]  # rows of steps that heard so many messages
    driving: tuple[int, ...]  # the same, in sources; one means all steps, its Syncs included
    stopped: tuple[int, ...] = ()

    def situations(self, beat_us: int) -> Iterator[tuple[str, int, int]]:
        """Yield the state, the messages heard in a step, and the sources of each row."""
        a_beat = max(round(beat_us / CLAIM_EVERY_US), 1)  # claims of one source in it
        yield from (("standing", heard, heard) for heard in self.standing)
        yield from (("driving", count * a_beat, count) for count in self.driving)
        yield from (("stopped", heard, heard) for heard in self.stopped)


ONE = Run(one_source, standing=(0,), driving=(1,))
MANY = Run(many_sources, standing=(1,), driving=(2, 4), stopped=(0,))


def runs_of(is_paired: bool) -> tuple[Run, ...]:
    """Return the runs of a car: with a key it drives with one source, beside its box."""
    return (ONE,) if is_paired else (ONE, MANY)


def rows_of(
    run: Run, found: Any, facts: Facts, args: argparse.Namespace
) -> Iterator[MeasuredSteps]:
    """The rows of one run's histograms. Raises Few."""
    for kind, heard, sources in run.situations(facts.beat_us):
        if kind == "driving" and not facts.drives:
            continue
        rows = [row for row in found["rows"] if row["kind"] == kind]
        is_all = kind == "driving" and sources == 1
        those = merged([row for row in rows if is_all or row["heard"] == heard], kind)
        if those["steps"] < FEW:
            raise Few(f"{kind}, {heard} heard: {those['steps']} steps, and a row needs {FEW}")
        took = summary(those)
        yield MeasuredSteps(
            chip=load_board(args.board).chip.name, wiring=args.wiring,
            is_configured=facts.drives, is_paired=facts.is_paired,
            micropython=facts.micropython, link=args.link, model=args.model, mhz=found["mhz"],
            beat_us=facts.beat_us, state=kind, heard=heard, steps=those["steps"],
            mean_us=round(took["mean_ms"] * 1000), median_us=round(took["median_ms"] * 1000),
            p99_us=round(took["p99_ms"] * 1000), longest_us=those["longest_us"],
            missed=found["missed"] if is_all else None, program=facts.program,
            date=time.strftime("%Y-%m-%d", time.gmtime()), how=args.how,
        )  # fmt: skip


@dataclass
class Facts:
    """The board and its car as they told themselves; ``drives`` is False of one in FAULT."""

    program: str
    micropython: str
    is_paired: bool
    beat_us: int = 0
    drives: bool = True


def told(bench: HilBench) -> Facts:
    """Ask the board."""
    found = next(iter(facts_of(bench)))[0]
    with bench.board() as board:
        return Facts(found["program_hash"], found["micropython"], has_key(board))


def measure(bench: HilBench, args: argparse.Namespace) -> list[MeasuredSteps]:
    """Measure all situations of the board at hand. Raises NotDriving, Few, NoAnswer."""
    facts, key = told(bench), read_key_file(args.key) if args.key else None
    if facts.is_paired and key is None:
        raise NotDriving("the board holds a box's key, and drives beside its box: give --key")
    rows: list[MeasuredSteps] = []
    for run in runs_of(facts.is_paired):
        missed = None

        def through(car: PacedCar, run: Run = run) -> None:
            nonlocal missed
            facts.beat_us, facts.drives = car.step_us, not car.host.status.faults
            if run is ONE or facts.drives:
                missed = run.drive(car, args.seconds, key)

        found = on_chip.watched(bench, "steps", args.speed_mm_s, through)
        if found["end"]:
            raise NotDriving(found["end"])
        if run is ONE or facts.drives:
            rows += rows_of(run, {**found, "missed": missed}, facts, args)
    for row in rows:
        chip_tables.say(f"{' '.join(map(str, row.situation))}: {row.mean_us} us, p99 {row.p99_us}")
    return rows


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what says how the steps are measured."""
    parser.add_argument("--model", default="", help="of an emulated chip's flash cache")
    parser.add_argument("--seconds", type=float, default=2.0, help="of each situation")
    parser.add_argument("--speed-mm-s", type=int, default=0, help="to drive at")
    parser.add_argument("--key", metavar="FILE", help="of the box's key that the board holds")


def main() -> int:
    """Measure, show, write."""
    parser = chip_tables.parser_of("chip_steps", __doc__, EPILOG)
    add_arguments(parser)
    parser.add_argument("--out", type=Path, default=TABLE)
    args = parser.parse_args()
    try:
        rows = measure(chip_tables.bench_of(args), args)
    except (NotDriving, Few) as error:
        chip_tables.say(f"nothing is written: {error}")
        return 1
    keep(args.out, rows)
    return 0


def keep(path: Path, rows: Iterable[MeasuredSteps]) -> None:
    """Put the rows into the table, in place of older ones."""
    new = list(rows)
    table = chip_tables.merge(read_measured(path), new, lambda row: row.situation)
    chip_tables.write(path, COLUMNS, table)
    chip_tables.say(f"{len(new)} rows in {path.name}")


if __name__ == "__main__":
    sys.exit(main())
