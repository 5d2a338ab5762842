"""How soon and how near a car stops when its commands come badly or no more: a table.

    .venv/bin/python -m tests.ros.reaction [--seed N] [--only WORDS] [--quick] [--json]

A publisher and a car (``tandem ros``) are in two network namespaces; what goes from one to the
other is lost, late, reordered, held and let go at once by a seed (impairment.py). Beside each
row, what f1tenth_system's mux and VESC would have done with what arrived, on the same plant.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence

from rich.console import Console

from tests.bench.support.sheet import Cell, Sheet, show
from tests.ros.reaction.line import Line, enter, why_not
from tests.ros.reaction.measured import Reaction, Result
from tests.ros.reaction.running import Stage
from tests.ros.reaction.scenarios import SCENARIOS, Scenario

PACKETS_MAX = 400_000
SECONDS_MAX = 900.0


def main(words: Sequence[str]) -> int:
    options = _parsed(words)
    if reason := why_not():
        print(f"not run: {reason}", file=sys.stderr)
        return 77
    enter("tests.ros.reaction", words)
    results = []
    with (
        Line(options.seed, packets_max=PACKETS_MAX, seconds_max=SECONDS_MAX) as line,
        Stage(line) as stage,
    ):
        for scenario in _chosen(options):
            print(f"{scenario.name} ...", file=sys.stderr, flush=True)
            results.append(stage.played(scenario))
    if options.json:
        print(json.dumps([result.plain() for result in results]))
    else:
        _show(results)
    return 0


def _parsed(words: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.ros.reaction", description=__doc__)
    parser.add_argument("--seed", type=int, default=1, help="of the line's chance (1)")
    parser.add_argument("--only", default="", help="scenarios whose name has these words")
    parser.add_argument("--quick", action="store_true", help="those of make test")
    parser.add_argument("--json", action="store_true", help="for programs")
    return parser.parse_args(words)


def _chosen(options: argparse.Namespace) -> list[Scenario]:
    found = [
        scenario
        for scenario in SCENARIOS
        if options.only in scenario.name and (scenario.is_quick or not options.quick)
    ]
    if not found:
        raise SystemExit(f"no scenario has {options.only!r} in its name: " + ", ".join(
            scenario.name for scenario in SCENARIOS
        ))  # fmt: skip
    return found


def _show(results: Sequence[Result]) -> None:
    rows: list[list[Cell]] = []
    for result in results:
        line = result.line
        rows.append([
            result.scenario.name, f"{line.lost}/{line.taken}", line.reordered,
            f"{result.arrived}/{result.sent}", *_cells(result.tandem), *_cells(result.theirs),
        ])  # fmt: skip
    notes = (
        "begins: below 0.9 of what was told; stands: below 0.05 m/s; m: the way until then; all",
        "from the event, or from when the line became so. '-': it does not. f1tenth_system's are",
        "its rules (mux 0.2 s, VESC 1 s, then it rolls) on the same plant with what arrived.",
    )
    show(
        Sheet(
            "A car whose commands fail, at 1.5 m/s",
            ("what happens", "lost", "reord.", "arrived", "Tandem begins ms", "stands ms", "m",
             "f1tenth_system begins ms", "stands ms ", "m "),
            rows,
            notes,
        ),
        Console(width=None if sys.stdout.isatty() else 150),
    )  # fmt: skip


def _cells(reaction: Reaction) -> list[Cell]:
    return [
        "-" if value is None else round(value, 2)
        for value in (reaction.begins_ms, reaction.stands_ms, reaction.way_m)
    ]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
