"""``tandem cars``: the cars that are served on this machine now."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence

from host_bridge.core import Profile
from host_bridge.core.errors import AnotherCarFault
from host_bridge.core.reports import CarStatus
from host_bridge.core.texts.stops import duration_text
from host_bridge.sharing.endpoints.served import ServedCar
from host_bridge.sharing.services import Host

EPILOG = """\
examples:
  tandem cars                   the cars that are served here
  tandem cars --json            the same, for a program
"""
_ON_STAND = ("HOLD", "ACTIVE", "STOPPING")  # in other states the reported profile is an old one
COLUMNS = ("name", "vehicle", "state", "pid", "uri", "started")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command line."""
    parser.description = "List the cars that are served on this machine."
    parser.epilog = EPILOG
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--json", action="store_true", help="print them as JSON")


def run(args: argparse.Namespace, host: Host) -> int:
    """Print the cars; return 0, also if there is none."""
    rows = [_seen(car, host) for car in host.cars.served()]
    if args.json:
        print(json.dumps(rows, indent=2))
    elif rows:
        print(_table(rows))
    else:
        print("No car is served on this machine. To serve one: tandem serve --car sim://nigel")
    return 0


def _seen(car: ServedCar, host: Host) -> dict[str, object]:
    try:
        return _row(car, host.cars.read_status_once(car.name))
    except AnotherCarFault as fault:
        return {**_row(car, None), "trouble": fault.what, "remedy": fault.remedy}


def _row(car: ServedCar, reading: tuple[CarStatus, float | None] | None) -> dict[str, object]:
    status, age_s = reading or (None, None)
    return {
        "name": car.name,
        "vehicle": car.vehicle,
        "state": status.state.name if status else None,
        "word": status.shown_state.word if status else None,
        "profile": status.profile.name if status else None,
        "cause": _cause(status) if status else None,
        "age_s": None if age_s is None else round(age_s, 1),
        "trouble": None,
        "board_id": car.board_id or None,
        "is_hitl": car.is_hitl,
        "pid": car.pid,
        "uri": car.uri,
        "started": car.started,
    }


def _cause(status: CarStatus) -> str | None:
    if status.first_cause is not None:
        return status.first_cause.phrase
    return status.faults[0].phrase if status.faults else None


def _table(rows: Sequence[dict[str, object]]) -> str:
    lines = [COLUMNS, *(tuple(_cell(row, column) for column in COLUMNS) for row in rows)]
    widths = [max(map(len, cells)) for cells in zip(*lines, strict=True)]
    padded = (
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True))
        for line in lines
    )
    troubles = (
        f"{row['name']}: {row['trouble']}; {row['remedy']}" for row in rows if row["trouble"]
    )
    return "\n".join([*(line.rstrip() for line in padded), *troubles])


def _ago(age_s: object) -> str:
    return f", {duration_text(age_s)} ago" if isinstance(age_s, float) else ""


def _is_on_stand(row: dict[str, object]) -> bool:
    return row["profile"] == Profile.STAND.name and row["state"] in _ON_STAND


def _cell(row: dict[str, object], column: str) -> str:
    if column == "state":
        cause = f" ({row['cause']}{_ago(row['age_s'])})" if row["cause"] else ""
        stand = f" {Profile.STAND.word}" if _is_on_stand(row) else ""
        hitl = " HITL" if row["is_hitl"] else ""
        nothing = "another car" if row["trouble"] else "no answer"
        return f"{row['word'] or nothing}{hitl}{stand}{cause}"
    return str(row[column])
