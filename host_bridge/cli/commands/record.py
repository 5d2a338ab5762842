"""``tandem record``: logs every byte to and from cars."""

from __future__ import annotations

import argparse
import asyncio
import socket
import sys
import threading
from contextlib import AsyncExitStack, suppress
from pathlib import Path
from typing import NamedTuple

from host_bridge.cli.arguments.arg_types import add_seconds
from host_bridge.cli.arguments.car_option import add_vehicle_option, vehicle_for
from host_bridge.cli.arguments.lidar_option import open_scans, parse_lidars
from host_bridge.core.errors import DeviceFault, UsageFault
from host_bridge.core.system.printable import printable
from host_bridge.core.system.running import run_async
from host_bridge.logs.recorder import Recorder
from host_bridge.logs.sensor_lines import SensorPipe
from host_bridge.sharing.open_car import OpenCar
from host_bridge.sharing.owner.car_server import end
from host_bridge.sharing.owner.recording import new_recorder
from host_bridge.sharing.services import Host
from host_bridge.station.backend.camera_pictures import CameraPictures
from host_bridge.station.backend.camera_process import open_camera

EPILOG = """\
examples:
  tandem record -o drive.mcap           the only car that is served, until Ctrl-C
  tandem record nigel -o drive.mcap --seconds 60
  tandem record car twin -o drive.mcap  several cars into one log
  tandem record serial:///dev/ttyACM0 -o drive.mcap
  tandem record f1tenth -o drive.mcap --marks     type a word and Enter: a mark at that moment
  tandem record f1tenth -o drive.mcap --lidar f1tenth=run.jsonl   its scans, too
  tandem record car -o drive.mcap --camera /dev/video0   and what a camera sees

The owner of a car hands out every frame, both ways, other clients' too. The file (MCAP) holds
the bytes as they were and what they mean; Foxglove plots it, tandem log describes it, tandem
station --log shows it on a page, and replay://drive.mcap plays it again. It is complete up to a
quarter of a second before a kill.
"""
# between two looks: with them a log is complete up to a quarter of a second (see above)
_STEP_S = 0.1
_LONGEST_MARK = 200  # letters: a sentence


class Feeds(NamedTuple):
    """The feeds logged besides a car's own bytes: scans by car, and a camera's pictures."""

    scans: dict[str, SensorPipe]
    pictures: CameraPictures | None


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command line."""
    parser.description = "Log every byte to and from cars, and what it means."
    parser.epilog = EPILOG
    parser.add_argument(
        "cars",
        nargs="*",
        metavar="CAR",
        help="served names, URIs or serial ports; may be left out if one is served",
    )
    parser.add_argument(
        "--car",
        dest="more",
        action="append",
        default=[],
        metavar="CAR",
        help="a car as an option; repeatable",
    )
    parser.add_argument(
        "-o",
        "--output",
        type=Path,
        required=True,
        metavar="FILE.mcap",
        help="the log file to write",
    )
    parser.add_argument(
        "--lidar",
        action="append",
        default=[],
        metavar="CAR=FILE",
        help="a file with the car's scans as lines of JSON, as a virtual car's sensors=FILE",
    )
    add_vehicle_option(parser)
    parser.add_argument(
        "--marks", action="store_true", help="each line of standard input is a mark in the log"
    )
    parser.add_argument(
        "--camera",
        metavar="SOURCE",
        help="a camera whose pictures are logged: /dev/video0, or the URL of an MJPEG stream",
    )
    add_seconds(parser)


def run(args: argparse.Namespace, host: Host) -> int:
    """Record until Ctrl-C; return 0 when the time is up.

    Raises errors.TandemError.
    """
    args.scanned = parse_lidars(args.lidar)
    return run_async(_record(args, host))


async def _record(args: argparse.Namespace, host: Host) -> int:
    async with AsyncExitStack() as opened:
        cars: list[OpenCar] = []
        named = [*args.cars, *args.more]
        vehicle = vehicle_for(args, named)
        for text in named or [None]:
            car = await host.cars.open(text, vehicle=vehicle)
            opened.push_async_callback(car.close)
            if car.name in [it.name for it in cars]:
                raise UsageFault(
                    f"the car {car.name} is named twice",
                    expected="each car once, by name or URI",
                    got=" ".join([*args.cars, *args.more]),
                    remedy="leave one of them out",
                )
            cars.append(car)
        feeds = Feeds(_open_scans(args.scanned, cars, opened), _open_camera(args.camera, opened))
        log = new_recorder(args.output, host.cars.clock)
        try:
            for car in cars:
                await car.record(log)
            names = ", ".join(car.name for car in cars)
            print(f"{names}: recording to {args.output}; Ctrl-C ends", file=sys.stderr, flush=True)
            if args.marks:
                _take_marks(log)
            await _until_over(cars, log, args.seconds, feeds, host)
        finally:
            for car in cars:
                if car.unlogged_bytes:
                    log.note(f"{car.unlogged_bytes} bytes of {car.name} were not logged")
            log.close()
    return 0


def _take_marks(log: Recorder) -> None:
    """Log each line of standard input as a mark, until it ends.

    In a thread, for standard input may be a file, a pipe or a terminal.
    """
    loop = asyncio.get_running_loop()
    begun_s = loop.time()

    def read() -> None:
        number = 0
        while line := sys.stdin.readline(_LONGEST_MARK):
            number += 1
            text = f"mark at {loop.time() - begun_s:.1f} s: {printable(line.strip()) or number}"
            with suppress(RuntimeError):  # the recording is over
                loop.call_soon_threadsafe(log.note, text)

    threading.Thread(target=read, daemon=True).start()


def _open_scans(
    wanted: dict[str, str], cars: list[OpenCar], files: AsyncExitStack
) -> dict[str, SensorPipe]:
    names = [car.name for car in cars]
    found: dict[str, SensorPipe] = {}
    for name, path in wanted.items():
        if name not in names:
            raise UsageFault(
                f"--lidar {name}={path}: that car is not recorded",
                expected=" or ".join(names),
                got=name,
            )
        found[name] = open_scans(path)
        files.callback(found[name].close)
    return found


def _open_camera(source: str | None, opened: AsyncExitStack) -> CameraPictures | None:
    """Start the camera's program, and read its pictures until the recording ends."""
    if source is None:
        return None
    with socket.create_server(("127.0.0.1", 0)) as free:
        camera = open_camera(source, free.getsockname()[1])
    opened.push_async_callback(end, asyncio.create_task(camera.run()))
    pictures = CameraPictures(str(camera.row()["url"]))
    opened.callback(pictures.close)
    return pictures


async def _until_over(
    cars: list[OpenCar],
    log: Recorder,
    seconds: float | None,
    feeds: Feeds,
    host: Host,
) -> None:
    loop = asyncio.get_running_loop()
    begun_s = loop.time()
    while seconds is None or loop.time() - begun_s < seconds:
        await asyncio.sleep(_STEP_S)
        _take(feeds, log, host.cars.clock.now_us())
        log.step()
        if log.fault:
            raise log.fault
        for car in cars:
            if car.has_lost_owner():
                raise DeviceFault(
                    "the program that served the car ended; the log is complete up to there",
                    where=car.name,
                    remedy="serve it again (tandem serve, tandem drive), then record anew",
                )


def _take(feeds: Feeds, log: Recorder, now_us: int) -> None:
    """Log the newest scan of each car, and picture, at 10 Hz: as many as a page can show."""
    if feeds.pictures and (jpeg := feeds.pictures.take()):
        log.image(jpeg, now_us)
    for name, pipe in feeds.scans.items():
        pipe.step(now_us)
        if scan := pipe.take_scan():
            log.scan(name, scan, now_us)
