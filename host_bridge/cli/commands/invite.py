"""``tandem invite``: make a token by which somebody reaches a served car over the network."""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from importlib.util import find_spec

from host_bridge.cli.arguments.arg_types import duration, speed_cap
from host_bridge.cli.arguments.car_option import add_car, car_of
from host_bridge.config.vehicle.schema import SOURCE_IDS, STOP_SOURCES
from host_bridge.core.errors import UsageFault
from host_bridge.core.system.running import run_async
from host_bridge.sharing.endpoints.naming import FIRST_PORT
from host_bridge.sharing.network.guests import MAVLINK, SEALED, Guest, GuestBook, new_guest
from host_bridge.sharing.network.sealed.handshake import Address, Role
from host_bridge.sharing.open_car import OpenCar
from host_bridge.sharing.services import Host

EPILOG = """\
examples:
  tandem invite red --role watch                   one week of looking on, and of stopping
  tandem invite red --role drive --until 2h --label Ada
  tandem invite red --role drive --cap 0.5 --address 192.168.1.7
  tandem invite red --role configure               its numbers, on a stand: tandem attest
  tandem invite red --json | jq -r .token | ssh laptop tandem accept
  tandem invite red --mavlink --role drive --label Ada    a passphrase for Ada's ground station

The car has to be served: tandem serve --listen ADDRESS. The token is a key. Whoever holds it is
that guest, so hand it over where nobody else looks, and revoke it when it is lost: tandem guests
revoke.
Anyone may stop a car, with or without a token. A guest who drives claims as the source "remote",
below whoever stands beside the car, within its cap, and arms no car whose vehicle file does not say
so. One who configures drives nothing, and changes numbers only between tandem attest at the car's
computer and the next arm, motion or re-plug.
"""
_WEEK_S, _DAY_S, _HOUR_S = 7 * 86_400.0, 86_400.0, 3600.0  # s; a week is seven days
# Chosen: by default the time of a visit, at most that of a project
_TIMES_S = {
    Role.WATCH: (_WEEK_S, 365 * _DAY_S),
    Role.STOP: (_WEEK_S, 365 * _DAY_S),
    Role.DRIVE: (8 * _HOUR_S, 30 * _DAY_S),
    Role.CONFIGURE: (2 * _HOUR_S, _DAY_S),
}
_SOURCE = "remote"  # below whoever stands beside the car (hardware/vehicles/bases/car.toml)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command line."""
    parser.description = "Make a token by which somebody reaches a car over the network."
    parser.epilog = EPILOG
    add_car(parser)
    parser.add_argument(
        "--role",
        choices=("watch", "stop", "drive", "configure"),
        default="watch",
        help="what it may do",
    )
    parser.add_argument(
        "--until",
        type=duration,
        metavar="TIME",
        help="for how long: 30m, 8h, 7d (default: a week; to drive 8 h, to configure 2 h)",
    )
    parser.add_argument("--label", default="guest", help="who it is for, in lists and logs")
    parser.add_argument("--cap", type=speed_cap, metavar="M_PER_S", help="no claim beyond it")
    parser.add_argument(
        "--address", metavar="HOST", help="an address of this machine, as a hint in the token"
    )
    parser.add_argument(
        "--mavlink",
        action="store_true",
        help="for a ground station at tandem mavlink: print a passphrase instead of a token",
    )
    parser.add_argument("--json", action="store_true", help="print the token as JSON")


def run(args: argparse.Namespace, host: Host) -> int:
    """Run the command; return 0 once the token is kept. Raises errors.TandemError."""
    return run_async(_invite(args, host))


async def _invite(args: argparse.Namespace, host: Host) -> int:
    opened = await host.cars.open(car_of(args))
    try:
        return _write(args, opened)
    finally:
        await opened.close()


def _write(args: argparse.Namespace, opened: OpenCar) -> int:
    role = Role[args.role.upper()]
    for_s = _TIMES_S[role][0] if args.until is None else args.until
    _refuse(args, opened, role, for_s)
    way = MAVLINK if args.mavlink else SEALED
    guest = new_guest(role, args.label, for_s, way, **_limits(args, role))
    book = GuestBook(opened.identity.board_id)
    if args.mavlink:
        book.keep(guest)
        _tell_passphrase(args, guest, opened.name, for_s)
        return 0
    addresses: tuple[Address, ...] = ((args.address, FIRST_PORT),) if args.address else ()
    try:
        token = book.invite(guest, opened.name, addresses)
    except ValueError:
        raise UsageFault(
            "not an address", expected="such as 192.168.1.7", got=args.address
        ) from None
    if args.json:
        row = {"id": guest.token_id, "role": args.role, "until_s": guest.until_s}
        print(json.dumps({**row, "label": guest.label, "token": token.text()}))
        return 0
    hours = f"{for_s / _HOUR_S:g} h"
    print(f"{guest.label} may {args.role} {opened.name} for {hours}, id {guest.token_id}")
    _draw(token.text())
    print(
        f"\n{token.text()}\n\nThere: tandem accept, then tandem://ADDRESS/{opened.name} is the car."
    )
    return 0


def _tell_passphrase(args: argparse.Namespace, guest: Guest, car: str, for_s: float) -> None:
    key = hashlib.sha256(guest.psk.encode()).hexdigest()  # as stations make it of a passphrase
    if args.json:
        row = {"id": guest.token_id, "role": args.role, "until_s": guest.until_s}
        print(json.dumps({**row, "label": guest.label, "passphrase": guest.psk, "key": key}))
        return
    print(
        f"{guest.label} may {args.role} {car} for {for_s / _HOUR_S:g} h by MAVLink, "
        f"id {guest.token_id}\n\n{guest.psk}\n\n"
        "That is the passphrase of the station's signing. MAVProxy: signing key PASSPHRASE. A\n"
        f"station that takes the key itself, in hexadecimal: {key}"
    )


def _refuse(args: argparse.Namespace, opened: OpenCar, role: Role, for_s: float) -> None:
    """Raise errors.UsageFault if the car, or so much of it, is not this command's to give."""
    if opened.car.is_afar:
        raise UsageFault(
            "only the car's own host invites to it",
            where=opened.uri,
            remedy="run tandem invite where tandem serve --listen runs",
        )
    if args.mavlink and role is Role.CONFIGURE:
        raise UsageFault(
            "a ground station configures nothing",
            expected="--mavlink with --role watch, stop or drive",
            got="--role configure",
        )
    if args.mavlink and args.address:
        raise UsageFault(
            "the passphrase of a ground station has no address",
            expected="--mavlink without --address",
            got=f"--address {args.address}",
        )
    longest_s = _TIMES_S[role][1]
    if for_s > longest_s:
        raise UsageFault(
            f"too long for a guest who may {args.role}",
            expected=f"at most {longest_s / _DAY_S:g} days",
            got=f"{for_s / _DAY_S:g} days",
        )


def _limits(args: argparse.Namespace, role: Role) -> dict[str, int]:
    """Return what a guest who drives is lent: sources and stop sources by id, the cap in mm/s."""
    if role is not Role.DRIVE:
        return {}
    return {
        "sources": 1 << SOURCE_IDS[_SOURCE],
        "stop_sources": 1 << STOP_SOURCES["seat"].id | 1 << STOP_SOURCES["fleet"].id,
        "cap_mm_s": round((args.cap or 0.0) * 1e3),
    }


def _draw(text: str) -> None:
    """Draw the QR code, on a terminal only: a log is no place for a key."""
    if not sys.stdout.isatty():
        return
    if find_spec("segno") is None:
        print("(for a QR code: pip install 'tandem-cars[guests]')")
        return
    import segno

    segno.make(text, error="m").terminal(compact=True)
