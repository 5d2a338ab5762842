"""``tandem guests``: list who was invited to a served car, and revoke it."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from datetime import datetime

from host_bridge.cli.arguments.car_option import add_car_option
from host_bridge.core.errors import UsageFault
from host_bridge.core.system.printable import printable
from host_bridge.sharing.network.guests import MAVLINK, Guest, GuestBook
from host_bridge.sharing.network.hosting.visits import VisitLog
from host_bridge.sharing.network.sealed.handshake import Role
from host_bridge.sharing.services import Host

EPILOG = """\
examples:
  tandem guests                 who was invited to the only car that is served
  tandem guests --car red --json
  tandem guests revoke 4f2a     whose id begins so; its session ends at once
  tandem guests revoke all
  tandem guests log             who came and went, who was refused, who attested a stand
  tandem guests rotate          a new key of this host for this car: every token is void

A guest that is revoked while it drives stops the car.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command line."""
    parser.description = "List the guests of a car, and revoke them."
    parser.epilog = EPILOG
    parser.add_argument("what", nargs="?", choices=("revoke", "rotate", "log"), help="what to do")
    parser.add_argument("id", nargs="?", help="the beginning of an id, or all")
    add_car_option(parser)
    parser.add_argument("--json", action="store_true", help="print the guests as JSON")


def run(args: argparse.Namespace, host: Host) -> int:
    """Return 0. Raises errors.TandemError."""
    if (args.what == "revoke") != (args.id is not None):
        raise UsageFault("whom to revoke?", expected="tandem guests revoke ID, or revoke all")
    car = host.cars.find_board(args.car)
    book = GuestBook(bytes.fromhex(car.board_id))
    if args.what == "revoke":
        for guest in book.revoke(args.id):
            print(f"revoked: {printable(guest.label)}, id {guest.token_id}")
    elif args.what == "rotate":
        print(f"{car.name}: tokens made void: {book.rotate()}; tandem invite makes new ones")
    elif args.what == "log":
        _show_log(VisitLog(book.board_id, book.wall_s).rows(), args.json)
    else:
        _show(list(_rows(book, GuestBook(book.board_id, way=MAVLINK))), args.json)
    return 0


def _show_log(rows: list[dict[str, str]], is_json: bool) -> None:
    if is_json:
        print(json.dumps(rows))
        return
    for row in rows:
        print(f"{row['at']}  {row['what']}")
    if not rows:
        print("nobody came yet: tandem serve --listen lets guests in")


def _rows(sealed: GuestBook, mavlink: GuestBook) -> Iterator[dict[str, object]]:
    for guest in sorted(sealed.guests.values(), key=lambda it: it.made_s):
        book = mavlink if guest.way == MAVLINK else sealed  # each has the times of its own
        seen_s, where = book.times.seen.get(guest.token_id, (None, None))
        yield {
            "id": guest.token_id,
            "label": guest.label,
            "by": guest.way,
            "role": Role(guest.role).word,
            "state": _state(book, guest),
            "left_s": round(max(0.0, book.left_s(guest))),
            "seen_s": seen_s,
            "from": where,
        }


def _state(book: GuestBook, guest: Guest) -> str:
    if guest.revoked_s is not None:
        return "revoked"
    return "invited" if book.left_s(guest) > 0 else "over"


def _show(rows: list[dict[str, object]], is_json: bool) -> None:
    if is_json:
        print(json.dumps(rows))
        return
    for row in rows:
        seen = "never here"
        if isinstance(row["seen_s"], float):
            when = datetime.fromtimestamp(row["seen_s"]).astimezone()
            seen = f"last here {when:%Y-%m-%d %H:%M} from {row['from']}"
        left_h = float(str(row["left_s"])) / 3600
        print(
            f"{row['id']}  {row['role']:<9} {row['state']:<8} {left_h:7.1f} h left  "
            f"{printable(str(row['label']))}{', by MAVLink' * (row['by'] == MAVLINK)}, {seen}"
        )
    if not rows:
        print("nobody was invited: tandem invite CAR --role watch")
