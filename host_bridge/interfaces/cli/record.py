"""``tandem record``: log every byte to and from a car."""

from __future__ import annotations

import argparse
import asyncio
import sys
from pathlib import Path

from host_bridge.errors import DeviceFault
from host_bridge.interfaces.cli.choice import add_car, car_of
from host_bridge.interfaces.cli.typed import add_seconds
from host_bridge.logbook.recorder import Recorder
from host_bridge.open_car import OpenCar
from host_bridge.running import run_async
from host_bridge.serve.recording import new_recorder
from host_bridge.services import Host

EPILOG = """\
examples:
  tandem record -o drive.mcap           the only car that is served, until Ctrl-C
  tandem record nigel -o drive.mcap --seconds 60
  tandem record serial:///dev/ttyACM0 -o drive.mcap

The owner of the car hands out every frame, both ways, other clients' too. The file (MCAP) holds
the bytes as they were and what they mean; Foxglove plots it, tandem log describes it, and
replay://drive.mcap plays it again. It is complete up to a quarter of a second before a kill.
"""
_STEP_S = 0.1


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command line."""
    parser.description = "Log every byte to and from a car, and what it means."
    parser.epilog = EPILOG
    add_car(parser)
    parser.add_argument("-o", "--output", type=Path, required=True, metavar="FILE.mcap")
    add_seconds(parser)


def run(args: argparse.Namespace, host: Host) -> int:
    """0 when the time is up. Raises errors.TandemError."""
    return run_async(_record(args, host))


async def _record(args: argparse.Namespace, host: Host) -> int:
    opened = await host.cars.open(car_of(args))
    try:
        log = new_recorder(args.output, host.cars.clock)
        try:
            await opened.record(log)
            print(f"{opened.name}: recording to {args.output}; Ctrl-C ends", file=sys.stderr)
            await _until_over(opened, log, args.seconds)
        finally:
            if opened.unlogged_bytes:
                log.note(f"{opened.unlogged_bytes} bytes of {opened.name} were not logged")
            log.close()
    finally:
        await opened.close()
    return 0


async def _until_over(opened: OpenCar, log: Recorder, seconds: float | None) -> None:
    loop = asyncio.get_running_loop()
    begun_s = loop.time()
    while seconds is None or loop.time() - begun_s < seconds:
        await asyncio.sleep(_STEP_S)
        log.step()
        if log.fault:
            raise log.fault
        if opened.has_lost_owner():
            raise DeviceFault("its owner ended; the log is complete up to there", where=opened.name)
