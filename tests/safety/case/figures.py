"""Prints the figures of the safety case, computed as its tests compute them.

    python -m tests.safety.case.figures              counts, times and metres
    python -m tests.safety.case.figures counts       one of them
    python -m tests.safety.case.figures --write      puts them into the page

The times take some minutes: every vehicle and every way of moving its wheels.
"""

from __future__ import annotations

import argparse
import itertools
import math
import random
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from host_bridge.config import load_vehicle
from sim_mock.faults.running import run
from tests.firmware.protocol import test_damage as damage
from tests.firmware.protocol.streams import filled, payload_of
from tests.proof import alphabets
from tests.proof.car import faults
from tests.safety.case import measure
from tests.safety.case.pages import FIGURES, block
from tests.safety.inputs import test_arbiter_stateful as arbiter
from tests.safety.stops import test_runstop_enumerated as runstop
from tests.safety.stops import test_supervisor_enumerated as supervisor
from tests.safety.support.facts import NAMES
from tests.safety.ways.ways import WAYS
from tests.sim_mock.faults.cases import test_hang_moments as moments

PROOF = Path(__file__).resolve().parents[2] / "proof" / "README.md"
SEEDS = range(3)  # three random moments of a fault; the farthest counts


Counted = tuple[str, str, int]  # hazard, what is tried, how many


class Stop(NamedTuple):
    """A row of the table of metres: a case of the catalogue on a vehicle, from a speed."""

    hazard: str
    words: str
    case: str
    vehicle: str
    speed_mps: float


_CARS = (("f1tenth_vesc", 3.0), ("autorally", 3.0), ("f1tenth", 3.0), ("f1tenth", 2.0),
         ("nigel", 0.44))  # fmt: skip
STOPS = (
    *(
        Stop("H3", "Stop", "stranger-stops", *car)
        for car in (("nigel", 0.44), ("f1tenth_vesc", 3.0), ("f1tenth_vesc", 7.0),
                    ("f1tenth", 2.0), ("autorally", 3.0), ("autorally", 10.0))
    ),
    *(Stop("H4", "runstop button", "runstop-opens", *car) for car in _CARS),
    *(Stop("H4", "program hangs for good", "program-ends", *car) for car in _CARS),
    *(Stop("H4", "board resets", "board-resets", *car) for car in _CARS),
    Stop("H5", "button, with an off-delay", "delayed-opens", "f1tenth", 3.0),
)  # fmt: skip


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table."""
    lines = [f"| {' | '.join(row)} |" for row in (head, *rows)]
    return "\n".join([lines[0], "|---" * len(head) + "|", *lines[1:]])


def counts() -> str:
    """Return the table of how many cases the exhaustive tests try."""
    counted = (*_of_supervisor(), *_of_stop_sources(), *_of_proof(), *_of_damage(), *_of_others())
    rows = sorted(counted, key=lambda row: int(row[0].removeprefix("H")))
    return table(
        ("id", "what is tried", "how many"),
        [(hazard, what, f"{count:,}") for hazard, what, count in rows],
    )


def _of_supervisor() -> Iterable[Counted]:
    states, conditions = len(supervisor.STATES), 1 << len(supervisor.BITS)
    right = supervisor.walk_of_table()
    changed = [walk != right for walk in _walks_of_mutated_tables()]
    steps = f"steps of the program: {states} states by {conditions} combinations of conditions"
    yield "H1", steps, states * conditions
    yield "H1", "changes of one row of the supervisor's table", len(changed)
    yield "H1", "of these change what it does; each is objected to", sum(changed)


def _of_stop_sources() -> Iterable[Counted]:
    three = "combinations of three stop sources: kind, need, profile, what they do"
    yield "H20", three, _combinations()
    yield "H20", "the same on the whole program, in every state", _combinations_of_program()
    yield "H21", "orders in which two cars and two boxes die", math.factorial(4)


def _of_proof() -> Iterable[Counted]:
    rows = re.findall(
        r"^\| [\w -]+ \| ([\d,]+) \| ([\d,]+) \| \d+ \|", PROOF.read_text(), re.MULTILINE
    )
    states, edges = (sum(int(row[at].replace(",", "")) for row in rows) for at in range(2))
    yield "H32", "alphabets of `make proof`, each searched to its fixed point", len(alphabets.ALL)
    yield "H32", "states of these searches", states
    yield "H32", "edges of these searches", edges
    yield "H32", "planted faults; each is found", len(faults.ALL)


def _of_damage() -> Iterable[Counted]:
    bits = [_bits_of(kind) for kind in damage.MESSAGES]
    bursts = [n + size - 1 for n in bits for size in range(1, damage.BURST_BITS + 1)]
    flips = sum(n + math.comb(n, 2) for n in bits)
    yield "H39", "flips of one or two bits, in frames of all messages", flips
    yield "H39", "solid bursts to 32 bits", sum(bursts)
    yield "H39", "random bursts to 32 bits", damage.RANDOM_BURSTS * len(bits)


def _of_others() -> Iterable[Counted]:
    hit = f"kinds of hang and reset by moments, for each of {len(moments.VEHICLES)} vehicles"
    yield "H2", hit, len(moments.MOMENTS) * len(moments.BLOWS)
    yield "H31", "ordered pairs of requests on one step; never do two take effect", math.perm(4, 2)
    acts = f"random runs of {arbiter.RUNS.stateful_step_count} acts by {arbiter.SOURCES} sources"
    yield "H41", acts, arbiter.RUNS.max_examples
    yield "H41", "planted mistakes of the arbiter; each is noticed", len(arbiter.MISTAKES)
    ways = "ways of moving the wheels, of all vehicles, in the table of times"
    yield "H48", ways, sum(way.fits(name) for way in WAYS for name in NAMES)


def _walks_of_mutated_tables() -> Iterable[list[int]]:
    right = supervisor.supervisor.TABLE
    try:
        for mutated in list(supervisor.mutated_tables()):
            supervisor.supervisor.TABLE = mutated
            yield supervisor.walk_of_table()
    finally:
        supervisor.supervisor.TABLE = right


def _combinations() -> int:
    kinds = list(itertools.product((runstop.LOOP, runstop.RC, runstop.LINK), repeat=3))
    does = list(itertools.product(runstop.DOES, repeat=3))
    possible = sum(runstop.is_possible(kind, does_these) for kind in kinds for does_these in does)
    return possible * 3**3 * runstop.PROFILES


def _combinations_of_program() -> int:
    test = runstop.test_in_every_state_and_profile_each_stop_is_latched_and_the_first_is_kept
    [mark] = [it for it in test.pytestmark if it.name == "parametrize"]
    return len(mark.args[1]) * 3**3 * len(runstop.STATES) * len(runstop.ALL_DO)


def _bits_of(kind: type) -> int:
    trial = damage.Trial(payload_of(filled(kind, random.Random(kind.ID))))
    return trial.high - trial.low


def times() -> str:
    """Return the table of the worst times, measured on every vehicle and way."""
    rows = (
        (row.what, f"{row.took_us / 1000:.1f}", f"{row.limit_us / 1000:.1f}", row.where)
        for row in measure.measured(measure.cruising())
    )
    return table(("what", "ms", "at most", "where, the first of the worst"), rows)


def metres() -> str:
    """Return the table of stopping distances, beside v²/2μg of four braked wheels."""
    return table(("id", "cause", "vehicle", "from m/s", "m", "times v²/2μg"), map(row_of, STOPS))


def row_of(stop: Stop) -> tuple[str, ...]:
    """Return the row of one stop: the farthest of some random moments."""
    vehicle = load_vehicle(stop.vehicle)
    far = max(
        (run(stop.case, vehicle, seed, speed_mps=stop.speed_mps) for seed in SEEDS),
        key=lambda result: result.distance_m,
    )
    share = f"{far.distance_m / far.friction_m:.1f}"
    named = stop.hazard, stop.words, stop.vehicle, f"{stop.speed_mps:g}"
    return *named, f"{far.distance_m:.2f}", share


TABLES: dict[str, Callable[[], str]] = {"counts": counts, "times": times, "metres": metres}


def rows_in(made: str) -> list[list[str]]:
    """Return the rows of a printed table, without its head."""
    return [line.strip("| ").split(" | ") for line in made.splitlines()[2:]]


def main(arguments: Sequence[str]) -> int:
    """Print the tables, or write them into the page."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="TABLE", help=", ".join(TABLES))
    parser.add_argument("--write", action="store_true", help="put them into the page")
    options = parser.parse_args(arguments)
    for name in options.names or TABLES:
        if name not in TABLES:
            parser.error(f"no table {name!r}; there are {', '.join(TABLES)}")
        made = TABLES[name]()
        if options.write:
            text = FIGURES.read_text()
            place = block(name, text)
            FIGURES.write_text(text[: place.start()] + made + text[place.end() :])
        else:
            print(f"{made}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
