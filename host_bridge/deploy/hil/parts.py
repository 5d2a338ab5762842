"""The parts of ``tandem hil`` in order: how each is measured, and how a failure is reported."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from host_bridge.core.errors import NotHeldFault, TandemError
from host_bridge.deploy.hil import as_flashed, by_hand, flashing, on_chip, power_cuts
from host_bridge.deploy.hil.bench import HilBench, facts
from host_bridge.deploy.hil.host.paced_car import NotDriving
from host_bridge.deploy.hil.host.port import NoAnswer
from host_bridge.deploy.hil.person import Person, PersonTimeout
from host_bridge.deploy.hil.report.limits import LIMITS, failed, unmeasured
from host_bridge.deploy.hil.report.report import HilReport, Measurement
from host_bridge.sharing.services import Host

ENDED = "ended by Ctrl-C before it"
NO_HANDS = "needs a person's hands: at a terminal, and without --no-hands"
STORMY = "f1tenth"  # the vehicle of the stress test if none is named


@dataclass(frozen=True)
class PartContext:
    """The arguments of every part."""

    bench: HilBench
    report: HilReport
    args: argparse.Namespace
    host: Host
    person: Person | None

    @property
    def speed_mm_s(self) -> int:
        speed_mps: float = self.args.speed
        return round(speed_mps * 1000)


class MeasuredPart(NamedTuple):
    """A part: the keys of its rows in ``LIMITS``, and the function that measures them."""

    keys: tuple[str, ...]
    measure: Callable[[PartContext], Iterable[Measurement]]


def _as_flashed(work: PartContext) -> Iterator[Measurement]:
    with work.bench.car(work.speed_mm_s) as car:
        work.report.board.update(car.connect())
        yield from as_flashed.measure(car, work.args.seconds)


def _repl(work: PartContext) -> Iterator[Measurement]:
    for found, row in facts(work.bench):
        work.report.board.update(found)
        yield row


def _heap(work: PartContext) -> Iterator[Measurement]:
    return (on_chip.heap_spare(work.bench, mode) for mode in on_chip.HEAP_KEYS)


def _driving(work: PartContext) -> Iterator[Measurement]:
    return on_chip.step_times(work.bench, work.speed_mm_s, work.args.seconds)


def _stops(work: PartContext) -> Iterator[Measurement]:
    return on_chip.stops(work.bench, work.speed_mm_s, work.args.stops)


def _line(work: PartContext) -> Iterator[Measurement]:
    return on_chip.line_rates(work.bench)


def _guard(work: PartContext) -> Iterator[Measurement]:
    yield on_chip.guard_share(work.bench)


def _bytes(work: PartContext) -> Iterator[Measurement]:
    yield on_chip.bytes_row(work.bench, work.args.vehicle or STORMY, work.args.beats)


def _start(work: PartContext) -> Iterator[Measurement]:
    yield on_chip.first_step(work.bench)


def _flash(work: PartContext) -> Iterator[Measurement]:
    yield flashing.flash(work.args, work.host)


def _by_hand(
    keys: Sequence[str], measure: Callable[[PartContext, Person], Iterable[Measurement]]
) -> MeasuredPart:
    """Return a part that needs a person."""

    def with_person(work: PartContext) -> Iterator[Measurement]:
        if work.person is None:
            yield from (unmeasured(key, NO_HANDS) for key in keys)
        else:
            yield from measure(work, work.person)

    return MeasuredPart(tuple(keys), with_person)


def _runstop(work: PartContext, person: Person) -> Iterator[Measurement]:
    return by_hand.runstop(work.bench, person)


def _encoder(work: PartContext, person: Person) -> Iterator[Measurement]:
    name = work.args.vehicle
    per_turn = by_hand.counts_per_turn(work.host.vehicles.load(name)) if name else None
    return by_hand.encoder(work.bench, person, per_turn)


def _power(work: PartContext, person: Person) -> Iterator[Measurement]:
    was_flashed = any(row.what == LIMITS["flash"].what and row.holds for row in work.report.rows)
    return power_cuts.PowerCuts(work.bench, person, was_flashed).rows(work.args.pulls)


PARTS: dict[str, MeasuredPart] = {
    "flash": MeasuredPart(("flash",), _flash),
    "told": MeasuredPart(("identify_answer", "stop_answer", *as_flashed.DRIVING_KEYS), _as_flashed),
    "repl": MeasuredPart(("repl",), _repl),
    "heap": MeasuredPart(tuple(on_chip.HEAP_KEYS.values()), _heap),
    "driving": MeasuredPart(on_chip.DRIVING_KEYS, _driving),
    "stops": MeasuredPart(("stop_output",), _stops),
    "line": MeasuredPart(("link_out", "link_in"), _line),
    "guard": MeasuredPart(("guard_share",), _guard),
    "bytes": MeasuredPart(("same_bytes",), _bytes),
    "start": MeasuredPart(("first_step",), _start),
    "runstop": _by_hand(by_hand.RUNSTOP_KEYS, _runstop),
    "encoder": _by_hand(by_hand.ENCODER_KEYS, _encoder),
    "power": _by_hand(power_cuts.KEYS, _power),
}


def measure_through_port(work: PartContext, chosen: Sequence[str]) -> tuple[NoAnswer | None, bool]:
    """Measure part by part; a failing one leaves the rest.

    Returns why the car is mute, or None, and whether a person has ended it.
    """
    mute, is_ended = None, False
    for name, part in PARTS.items():
        if name not in chosen or is_ended:
            why = ENDED if name in chosen else "not asked for"
            work.report.rows += [unmeasured(key, why) for key in part.keys]
            continue
        work.bench.progress(f"--- {name}")
        try:
            trouble = _through(part, work)
        except KeyboardInterrupt:
            is_ended = True
            continue
        if isinstance(trouble, NoAnswer) and name == "told":
            mute = trouble
    return mute, is_ended


def _through(part: MeasuredPart, work: PartContext) -> Exception | None:
    """Measure one part; a row for each thing not measured says why. Return the error, if any."""
    measured: set[str] = set()
    rows = iter(part.measure(work))
    try:
        for row in rows:
            work.report.rows.append(row)
            measured.add(row.what)
            work.bench.progress(f"{row.verdict:>12}  {row.what}: {row.got or row.how}")
        work.report.rows += _lacking(part, measured, unmeasured, "it was not come to")
        return None
    except (TandemError, NotDriving, PersonTimeout, OSError, AssertionError) as error:
        trouble = error
    except KeyboardInterrupt:
        work.report.rows += _lacking(part, measured, unmeasured, "ended by Ctrl-C")
        raise
    finally:
        if isinstance(rows, Generator):
            rows.close()  # now, not at garbage collection: it stops an armed car
    work.bench.progress(str(trouble))
    row_of = failed if isinstance(trouble, NotHeldFault) else unmeasured
    work.report.rows += _lacking(part, measured, row_of, str(trouble))
    return trouble


def _lacking(
    part: MeasuredPart,
    measured: Collection[str],
    row_of: Callable[[str, str], Measurement],
    why: str,
) -> list[Measurement]:
    return [row_of(key, why) for key in part.keys if LIMITS[key].what not in measured]
