"""The report of ``tandem vehicles new`` on the car that it wrote: what it took over, what next."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from host_bridge.cli.output.columns import aligned
from host_bridge.config.new_vehicle.build import NewVehicle
from host_bridge.config.new_vehicle.questions import BY_NAME, LIKE, Answers, shown

# What a vehicle file wants, no person knows at a desk, and a drive tells
_TO_MEASURE = (
    ("stop.cut_decel_mps2", "let it roll out from 2 m/s: 2 / the metres that it goes"),
    ("drive.gain_per_mps", "begin with half of it, on blocks"),
    ("channels", "tandem trim: where straight ahead and standing still are"),
)


def new_vehicle_row(made: NewVehicle, answers: Answers, taken: Sequence[str]) -> dict[str, Any]:
    """Return the report for a program."""
    return {
        "files": [str(path) for path in made.texts],
        "vehicle": made.vehicle.name,
        "board": made.board,
        "answers": {name: shown(value) for name, value in answers.items()},
        "taken_from_base": list(taken),
        "slowest_mps": made.vehicle.slowest_mps,
        "reminders": _reminders(made),
        "is_wired": made.report.is_wired,
        "refusals": list(made.report.refusals),
    }


def new_vehicle_lines(made: NewVehicle, answers: Answers, taken: Sequence[str]) -> Iterator[str]:
    """Yield the report for a person."""
    yield from (f"written: {path}" for path in made.texts)
    if taken:
        yield f"not asked, and taken from {answers[LIKE]}:"
        yield from aligned([(BY_NAME[name].option, shown(answers[name])) for name in taken])
    yield from (f"mind: {text}" for text in _reminders(made))
    yield "to be measured on the car; until then as computed or as its base's:"
    yield from aligned(_TO_MEASURE)
    named = _argument(next(iter(made.texts)))
    path, board = shlex.quote(named), shlex.quote(_argument(made.board))
    car = shlex.quote(f"sim://{named}")
    yield "next:"
    yield f"  tandem drive --car {car}              as a virtual car"
    yield f"  tandem vehicles {path} --check --board {board}"
    yield f"  tandem flash --vehicle {path} --board {board} --port PORT"


def _reminders(made: NewVehicle) -> list[str]:
    found = list(made.vehicle.reminders)
    if made.vehicle.parameters["encoder_signed"] == [0]:
        metres = made.vehicle.unaided.stop_from(
            made.vehicle.profile_caps_mps[made.vehicle.profile]
        ).button_m
        found.append(
            "its sensor tells no direction, so it never brakes by its motor: it rolls "
            f"{metres:.1f} m from its cap at each stop. A and B, or a motor's three halls, let it "
            "brake"
        )
    if not made.report.is_wired or made.report.refusals:
        found.append(f"its wiring on {made.report.board} is refused: --check says why")
    return found


def _argument(text: str | Path) -> str:
    """Return a path as a command takes it for one: a bare name would be a vehicle's."""
    word = str(text)
    return f"./{word}" if word.endswith(".toml") and "/" not in word else word
