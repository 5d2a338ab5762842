"""``tandem trim``: sets where a car drives straight and stands still, without reflashing."""

from __future__ import annotations

import argparse
import json
from dataclasses import replace

from host_bridge.cli.arguments.car_option import add_car_option, add_vehicle_option
from host_bridge.config.vehicle.trim import parse_trim, trimmed_parameters
from host_bridge.core import Vehicle
from host_bridge.core.errors import UsageFault
from host_bridge.core.system.progress import progress_count
from host_bridge.core.system.running import run_async
from host_bridge.sharing.open_car import OpenCar
from host_bridge.sharing.services import Host

_KINDS = {1: "steering", 2: "throttle"}  # value of channel_kind, as in schema.CHANNEL_KINDS
EPILOG = """\
examples:
  tandem trim --car nigel                       how it is trimmed now
  tandem trim --car nigel steering=12           all steering servos 12 us longer than in its file
  tandem trim --car nigel 0=12 1=-4             servos one by one, by channel number
  tandem trim --car f1tenth throttle=-5         where its ESC stands still
  tandem trim --car nigel steering=0            back to the vehicle file

The offset is from the vehicle file's pulse, not from the last trim; repeating it changes nothing.
The car has to be parked or in fault. It is written, read back, and kept here with the car's
pairing, without which no command would know the car's numbers: tandem backup carries both.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command line."""
    parser.description = "Trim a car's steering and throttle."
    parser.epilog = EPILOG
    add_car_option(parser)
    add_vehicle_option(parser)
    parser.add_argument(
        "trims",
        nargs="*",
        metavar="WHAT=US",
        help="steering, throttle or a channel, and its offset in us",
    )
    parser.add_argument("--json", action="store_true", help="print the outcome as JSON")


def run(args: argparse.Namespace, host: Host) -> int:
    """Run the command; return 0.

    Raises errors.TandemError.
    """
    for word in args.trims:
        if "=" not in word:  # refused before a car is opened: the word is meant as the car
            raise UsageFault(
                f"{word} is no trim",
                expected="WHAT=US, as in steering=-10",
                remedy=f"if a car is meant: --car {word}",
            )
    return run_async(_trim(args, host))


async def _trim(args: argparse.Namespace, host: Host) -> int:
    epoch = host.cars.command_epoch(args.car) if args.trims else None
    opened = await host.cars.open(args.car, epoch=epoch, vehicle=args.vehicle)
    try:
        vehicle = host.vehicles.load(opened.vehicle.path)
        identity = opened.identity
        if args.trims:
            await _write(args.trims, host, opened, vehicle)
        known = host.pairings.of(identity)
        _show(vehicle, dict(known.trim) if known else {}, args.json)
        return 0
    finally:
        await opened.close()


async def _write(words: list[str], host: Host, opened: OpenCar, vehicle: Vehicle) -> None:
    name = opened.identity.car_name or vehicle.name
    known = await host.configurations.pairing_for(opened, vehicle, name)
    trim = trimmed_parameters(vehicle, known.trim, [parse_trim(word, vehicle) for word in words])
    after = replace(known, trim=trim)
    await host.configurations.write_and_keep(
        opened, after.of(vehicle), name, (known, after), progress_count
    )


def _show(vehicle: Vehicle, trim: dict[str, list[int]], is_json: bool) -> None:
    file = vehicle.parameters["channel_neutral"]
    now = trim.get("channel_neutral", file)
    rows = [
        {
            "channel": i,
            "kind": _KINDS[kind],
            "rest_us": now[i] / 1000,
            "trim_us": (now[i] - file[i]) / 1000,
        }
        for i, kind in enumerate(vehicle.parameters["channel_kind"])
        if kind in _KINDS
    ]
    if is_json:
        print(json.dumps(rows))
    else:
        lines = (
            f"{r['channel']:7}  {r['kind']:8} {r['rest_us']:9.1f} {r['trim_us']:+9.1f}"
            for r in rows
        )
        print("\n".join(["channel  what       rest us   trim us", *lines]))
