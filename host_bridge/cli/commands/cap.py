"""Limit the speed of a car, on the car: whoever drives it, it goes no faster.

The cap of a car that is armed or stopped can only be lowered. While it is parked it can be set to
anything that the vehicle file allows. It holds until it is set again or the car is switched off,
forward and backward.

examples:
  tandem cap 0.3                the only car that is served goes 0.3 m/s at most
  tandem cap 1 --car f1tenth    one of several
  tandem cap 0                  nobody can drive it any more
"""

from __future__ import annotations

import argparse
import json

from host_bridge.cli.arguments.arg_types import speed_cap
from host_bridge.cli.arguments.car_option import OneCar, add_vehicle_option
from host_bridge.cli.car_actions.request import outcome_row, refused_fault, request_action
from host_bridge.core import Sender, State, cap_action
from host_bridge.core.system.running import run_async
from host_bridge.sharing.open_car import OpenCar
from host_bridge.sharing.services import Host

_STARTED_S = 3.0  # a car that is starting up does not raise its cap
_SHOWN_S = 2.0  # the report with the cap takes turns with other slow ones


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command line."""
    parser.add_argument("speed_mps", metavar="SPEED", type=speed_cap, help="the cap in m/s")
    parser.add_argument(
        "--car", action=OneCar, metavar="CAR", help="a served name, a URI or a serial port"
    )
    add_vehicle_option(parser)
    parser.add_argument("--json", action="store_true", help="print the outcome as JSON")


def run(args: argparse.Namespace, host: Host) -> int:
    """Run the command; return 0 if the car took the cap.

    Raises errors.TandemError.
    """
    return run_async(_cap(args, host))


async def _cap(args: argparse.Namespace, host: Host) -> int:
    epoch = host.cars.command_epoch(args.car)
    opened = await host.cars.open(args.car, epoch=epoch, vehicle=args.vehicle)
    try:
        await opened.until(lambda: _has_started(opened), _STARTED_S)
        result = await request_action(opened, cap_action(args.speed_mps, Sender.COMMAND), host)
        if result is not None and result.is_done:
            opened.car.outputs = None  # wait for a report that was made with the new cap
            await opened.until(lambda: opened.car.outputs is not None, _SHOWN_S)
    finally:
        await opened.close()
    cap_mps = opened.car.outputs.cap_mps if opened.car.outputs else None
    if args.json:
        print(json.dumps({**outcome_row(result, opened), "cap_mps": cap_mps}))
    if result is None or not result.is_done:
        raise refused_fault(result, opened)
    if not args.json:
        print(f"{opened.name}: {'capped' if cap_mps is None else f'{cap_mps:g} m/s at most'}")
    return 0


def _has_started(opened: OpenCar) -> bool:
    return opened.car.status is not None and opened.car.status.state is not State.STARTING
