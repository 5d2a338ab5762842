"""Let a program of yours stop a car: a door contact, a fence, a camera that sees somebody.

The program never moves the car. It is the stop source `external` of the car's vehicle file; where
that is `required`, the car also stops when the program ends, hangs or fails. It is found by the
entry point tandem.stop_sources (host_bridge/cars/README.md says how to add one). A person has to be
able to stop the car besides.

examples:
  tandem stop-source door:/run/lab/door                 the only car that is served
  tandem stop-source door:/run/lab/door --car f1tenth   one of several
"""

from __future__ import annotations

import argparse
import asyncio

from host_bridge.cars.external_stop import EXTERNAL, ExternalStop, lacks_external, make_stop_source
from host_bridge.cli.arguments.car_option import OneCar, add_vehicle_option
from host_bridge.core.errors import DeviceFault, UsageFault, VehicleFileFault
from host_bridge.core.stop_source import StopSource
from host_bridge.core.system.running import run_async
from host_bridge.sharing.open_car import OpenCar
from host_bridge.sharing.services import Host

_STEP_S = 0.01  # twice for each word to the car, which gets fifty a second


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command line."""
    parser.add_argument("source", metavar="NAME[:REST]", help="the program that only stops")
    parser.add_argument(
        "--car", action=OneCar, metavar="CAR", help="a served name, a URI or a serial port"
    )
    add_vehicle_option(parser)


def run(args: argparse.Namespace, host: Host) -> int:
    """Run the command until Ctrl-C ends it; return the exit code.

    Raises errors.TandemError.
    """
    source = make_stop_source(args.source)
    if isinstance(source, str):
        raise UsageFault(source, where=args.source, remedy="host_bridge/cars/README.md adds one")
    return run_async(_watch(args.car, args.vehicle, source, host))


async def _watch(text: str | None, vehicle: str | None, source: StopSource, host: Host) -> int:
    opened = await host.cars.open(text, epoch=host.cars.new_epoch(), vehicle=vehicle)
    try:
        if lacks_external(opened.car):
            raise _not_registered(opened)
        await source.open()
        try:
            return await _stop_when_asked(opened, source, host)
        finally:
            await source.close()
    finally:
        await opened.close()


async def _stop_when_asked(opened: OpenCar, source: StopSource, host: Host) -> int:
    stop = ExternalStop(opened.car, source)
    print(f"{opened.name}: it may run as long as this program lets it; Ctrl-C ends it", flush=True)
    while not opened.has_lost_owner():
        try:
            has_changed = stop.step(host.cars.clock.now_us())
        except Exception as error:
            raise DeviceFault(
                "the stop source failed, so the car hears nothing more from it",
                where=opened.name,
                got=f"{type(error).__name__}: {error}",
                remedy="mend it, and start it again",
            ) from error
        if has_changed:
            print(f"{opened.name}: {stop.why or 'it may run again'}", flush=True)
        await asyncio.sleep(_STEP_S)
    raise DeviceFault("the program that served the car has ended", where=opened.name)


def _not_registered(opened: OpenCar) -> VehicleFileFault:
    return VehicleFileFault(
        "the car's vehicle file lets no program stop it",
        where=opened.vehicle.path,
        expected=f'[stop.sources.{EXTERNAL}] with track = "required", and a person besides',
        got="nothing",
        remedy="add that table, and write the configuration: tandem config write",
    )
