"""``tandem cars``: the cars that are served on this machine now, or announced nearby."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from host_bridge.cli.arguments.arg_types import positive
from host_bridge.core import Profile
from host_bridge.core.errors import AnotherCarFault
from host_bridge.core.reports import CarStatus
from host_bridge.core.system.running import run_async
from host_bridge.core.texts.stops import duration_text
from host_bridge.link.protocol.wire import own_protocol_hash
from host_bridge.sharing.endpoints.naming import uri_of
from host_bridge.sharing.endpoints.served import ServedCar
from host_bridge.sharing.services import Host

if TYPE_CHECKING:
    from host_bridge.sharing.discovery.nearby import NearbyCar

EPILOG = """\
examples:
  tandem cars                   the cars that are served here
  tandem cars --json            the same, for a program
  tandem cars --nearby          those that other machines announce: tandem serve --listen
  tandem cars --nearby --for 10

Anybody on a network can announce anything: what --nearby lists is a hint, and no permission. A car
proves itself by the token that tandem accept has kept, and "token" says what that lets you do.
"""
_ON_STAND = ("HOLD", "ACTIVE", "STOPPING")  # in other states the reported profile is an old one
COLUMNS = ("name", "vehicle", "state", "pid", "uri", "started")
NEARBY_COLUMNS = ("name", "vehicle", "board_id", "token", "uri")
_LISTEN_S = 2.0  # a question is asked at once and after a second, and answered within 120 ms


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command line."""
    parser.description = "List the cars that are served on this machine, or announced nearby."
    parser.epilog = EPILOG
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--json", action="store_true", help="print them as JSON")
    parser.add_argument(
        "--nearby", action="store_true", help="list what other machines announce, instead"
    )
    parser.add_argument(
        "--for",
        dest="for_s",
        type=positive,
        default=_LISTEN_S,
        metavar="S",
        help=f"with --nearby: listen for so long (default {_LISTEN_S:g} s)",
    )


def run(args: argparse.Namespace, host: Host) -> int:
    """Print the cars; return 0, also if there is none."""
    if args.nearby:
        return run_async(_show_nearby(args.for_s, args.json))
    rows = [_seen(car, host) for car in host.cars.served()]
    if args.json:
        print(json.dumps(rows, indent=2))
    elif rows:
        print(_table(rows, COLUMNS))
    else:
        print("No car is served on this machine. To serve one: tandem serve --car sim://nigel")
        print("Those of other machines: tandem cars --nearby")
    return 0


async def _show_nearby(for_s: float, is_json: bool) -> int:
    from host_bridge.sharing.discovery.nearby import nearby_cars
    from host_bridge.sharing.network.invitations import invitations

    if not is_json:
        print(f"listening for {for_s:g} s", file=sys.stderr)
    roles = {it.board_id.hex(): (it.role.name or "").lower() for it in reversed(invitations())}
    rows = [_nearby_row(it, roles) for it in await nearby_cars(for_s)]
    if is_json:
        print(json.dumps(rows, indent=2))
    elif rows:
        print(_table(rows, NEARBY_COLUMNS))
        if not all(row["is_same_protocol"] for row in rows):
            print("a car of another version can be stopped, and watched no further")
    else:
        print(
            "Nobody announced a car. Where access points filter multicast, name it by its address: "
            "tandem://ADDRESS/NAME, as tandem serve --listen prints it"
        )
    return 0


def _nearby_row(nearby: NearbyCar, roles: dict[str, str]) -> dict[str, object]:
    car = nearby.car
    return {
        "name": car.name,
        "vehicle": car.vehicle or None,
        "board_id": car.board_id,
        "token": roles.get(car.board_id),
        "uri": uri_of(nearby.host, nearby.port, car.name),
        "fleet": car.fleet,
        "is_same_protocol": bytes.fromhex(car.protocol) == own_protocol_hash(),
    }


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


def _table(rows: Sequence[dict[str, object]], columns: tuple[str, ...]) -> str:
    lines = [columns, *(tuple(_cell(row, column) for column in columns) for row in rows)]
    widths = [max(map(len, cells)) for cells in zip(*lines, strict=True)]
    padded = (
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True))
        for line in lines
    )
    troubles = (
        f"{row['name']}: {row['trouble']}; {row['remedy']}" for row in rows if row.get("trouble")
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
    return "-" if row[column] is None and column in NEARBY_COLUMNS else str(row[column])
