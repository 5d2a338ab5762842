"""``tandem attest``: say that a car is on its stand, so that a guest may configure it."""

from __future__ import annotations

import argparse
import getpass
import json
import time
from datetime import datetime

from host_bridge.cli.arguments.arg_types import duration
from host_bridge.cli.arguments.car_option import add_car_option
from host_bridge.core.errors import DeviceFault, RefusedFault, UsageFault
from host_bridge.sharing.network.hosting.attestation import (
    LONGEST_S,
    Attestation,
    AttestationFile,
    new_attestation,
)
from host_bridge.sharing.services import Host

EPILOG = """\
examples:
  tandem attest wheels-off-ground               the only car that is served, for 30 minutes
  tandem attest wheels-off-ground --car red --for 10m
  tandem attest show --car red
  tandem attest end --car red

For guests who were invited with --role configure. Go to the car, see that its wheels are off the
ground, and say so here, at the computer that serves it. It ends by its time, as soon as anybody
arms the car, as soon as it moves, when its cable was out, and with tandem serve.
"""
_WHEELS, _SHOW, _END = "wheels-off-ground", "show", "end"
_DEFAULT_S = 1800.0  # chosen: a change of numbers and a look at what came of it
_TAKEN_S = 2.0  # the server looks each 10 ms; a busy one may be late


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command line."""
    parser.description = "Say that a car is on its stand, so that a guest may configure it."
    parser.epilog = EPILOG
    parser.add_argument(
        "what", choices=(_WHEELS, _SHOW, _END), help="what you have seen, or show, or end"
    )
    add_car_option(parser)
    parser.add_argument(
        "--for",
        dest="for_s",
        type=duration,
        default=_DEFAULT_S,
        metavar="TIME",
        help="for how long: 10m, 1h (default 30m, at most 2h)",
    )
    parser.add_argument("--json", action="store_true", help="print it as JSON")


def run(args: argparse.Namespace, host: Host) -> int:
    """Return 0 once the car's server has taken it up. Raises errors.TandemError."""
    car = host.cars.find_board(args.car)
    file = AttestationFile(bytes.fromhex(car.board_id))
    if args.what == _SHOW:
        _show(car.name, file.read(), args.json)
    elif args.what == _END:
        file.forget()
        print(f"{car.name}: no guest configures it any more")
    else:
        _show(car.name, _attest(file, car.name, args.for_s), args.json)
    return 0


def _attest(file: AttestationFile, car: str, for_s: float) -> Attestation:
    if for_s > LONGEST_S:
        raise UsageFault(
            "too long for one look at a car",
            expected=f"at most {LONGEST_S / 60:g} minutes",
            got=f"{for_s / 60:g} minutes",
            remedy="attest again when it is over",
        )
    wanted = new_attestation(for_s, getpass.getuser())
    file.write(wanted)
    give_up_s = time.monotonic() + _TAKEN_S
    while time.monotonic() < give_up_s:
        found = file.read()
        if found and found.number == wanted.number and (found.opened or found.ended):
            if found.ended:
                raise RefusedFault(
                    "this car is on no stand that could be attested",
                    where=car,
                    got=found.ended,
                    remedy="tandem disarm, let the wheels stand, and attest then",
                )
            return found
        time.sleep(0.02)  # s, twice what the server takes for a look
    file.forget()
    raise DeviceFault(
        "nobody took up the attestation",
        where=car,
        expected="tandem serve --listen, which lets guests in",
        remedy="a car that is served without --listen has no guests: configure it here",
    )


def _show(car: str, found: Attestation | None, is_json: bool) -> None:
    is_open = bool(found and found.opened and not found.ended)
    if is_json:
        row = {"car": car, "is_open": is_open}
        if found:
            row |= {"until_s": found.until_s, "login": found.login, "ended": found.ended or None}
        print(json.dumps(row))
    elif found and is_open:
        until = datetime.fromtimestamp(found.until_s).astimezone()
        print(
            f"{car}: {found.login} says that its wheels are off the ground. Guests may configure "
            f"it until {until:%H:%M:%S}, the next arm, motion or re-plug"
        )
    else:
        print(f"{car}: no attestation; {found.ended if found else 'nobody made one'}")
