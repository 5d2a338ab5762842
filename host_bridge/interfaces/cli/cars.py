"""``tandem cars``: who is being served on this machine, now."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:  # handed in
    from host_bridge.domain.reports import CarStatus
    from host_bridge.transports.served import ServedCar

EPILOG = """\
examples:
  tandem cars                   the cars that are served here
  tandem cars --json            the same, for a program
"""
_ON_STAND = ("HOLD", "ACTIVE", "STOPPING")  # elsewhere the profile is that of the last time
COLUMNS = ("name", "vehicle", "state", "pid", "uri", "started")


class Context(Protocol):
    """What the command needs of its surroundings."""

    def served(self) -> Sequence[ServedCar]:
        """transports.local_socket.served()."""

    def glance(self, name: str) -> CarStatus | None:
        """The latest status of a served car; None if it does not say within a moment."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's options."""
    parser.description = "The cars that are served on this machine."
    parser.epilog = EPILOG
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--json", action="store_true", help="print them as JSON")


def run(args: argparse.Namespace, context: Context) -> int:
    """Prints the cars; returns 0, also where there is none."""
    rows = [_row(car, context.glance(car.name)) for car in context.served()]
    if args.json:
        print(json.dumps(rows, indent=2))
    elif rows:
        print(_table(rows))
    else:
        print("No car is served on this machine. To serve one: tandem serve --car sim://nigel")
    return 0


def _row(car: ServedCar, status: CarStatus | None) -> dict[str, object]:
    return {
        "name": car.name,
        "vehicle": car.vehicle,
        "state": status.state.name if status else None,
        "profile": status.profile.name if status else None,
        "cause": status.first_cause.phrase if status and status.first_cause else None,
        "is_hitl": car.is_hitl,
        "pid": car.pid,
        "uri": car.uri,
        "started": car.started,
    }


def _table(rows: Sequence[dict[str, object]]) -> str:
    lines = [COLUMNS, *(tuple(_cell(row, column) for column in COLUMNS) for row in rows)]
    widths = [max(map(len, cells)) for cells in zip(*lines, strict=True)]
    padded = (
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True))
        for line in lines
    )
    return "\n".join(line.rstrip() for line in padded)


def _cell(row: dict[str, object], column: str) -> str:
    if column == "state":
        cause = f" ({row['cause']})" if row["cause"] else ""
        stand = " STAND" if row["profile"] == "STAND" and row["state"] in _ON_STAND else ""
        hitl = " HITL" if row["is_hitl"] else ""
        return f"{row['state'] or 'no answer'}{hitl}{stand}{cause}"
    return str(row[column])
