"""``tandem localise``: finds a car in a map by its LIDAR, live or in a recorded drive."""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from math import cos, degrees, remainder, sin, sqrt, tau
from pathlib import Path
from typing import IO, Any, TextIO

import numpy as np

from host_bridge.cli.arguments.arg_types import add_seconds
from host_bridge.cli.arguments.car_option import OneCar
from host_bridge.cli.arguments.lidar_option import open_scans
from host_bridge.cli.arguments.start_option import parse_start
from host_bridge.core.errors import DeviceFault, UsageFault
from host_bridge.core.system.running import run_async
from host_bridge.core.vehicle import Vehicle
from host_bridge.logs.new_file import open_new
from host_bridge.logs.sensor_lines import SensorPipe
from host_bridge.mapping.drives import read_drive, true_poses
from host_bridge.mapping.likelihood_field import LikelihoodField
from host_bridge.mapping.localising import (
    RATE_HZ,
    LocatedScan,
    located_drive,
    sample_of,
)
from host_bridge.mapping.pose_source import field_of_map, particles_in
from host_bridge.mapping.poses.odometry_track import OdometryTrack
from host_bridge.mapping.scan_points import mount_of, points_of
from host_bridge.sharing.open_car import OpenCar
from host_bridge.sharing.services import Host

EPILOG = """\
examples:
In a recorded drive; with a virtual car's truth in FILE.jsonl the errors are printed, too:
  tandem localise lab.yaml drive.mcap --lidar run.jsonl
  tandem localise lab.yaml drive.mcap --anywhere -o poses.jsonl
Live, beside whoever drives: a served car, and the file or pipe with its scans:
  mkfifo /tmp/poses
  tandem localise lab.yaml --car f1tenth --lidar run.jsonl -o /tmp/poses
  tandem drive --car f1tenth --input 'path:lab.csv?pose=/tmp/poses'

A line of -o is a pose of the centre of gravity in the map's frame, 20 a second at most:
  {"sensor": "pose", "taken_s": 12.05, "x_m": 1.2, "y_m": 0.4, "yaw_rad": 0.1, "std_m": 0.02,
   "std_rad": 0.003, "fit": 0.98, "is_lost": false, "odometry": [1.0, 0.4, 0.1]}
fit is the share of rays that end on walls. While is_lost they do not, or do so in several places,
and the whole map is searched.
odometry is the car's own reckoning at that moment, of the point that it turns about.
Without --start the car begins at the origin, where tandem map has it; --anywhere looks for it.
"""
_STEP_S = 0.01  # twice between two reports of motion


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command line."""
    parser.description = "Find a car in a ROS map by its odometry and its LIDAR (particle filter)."
    parser.epilog = EPILOG
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("map", type=Path, metavar="MAP.yaml")
    parser.add_argument(
        "log", type=Path, nargs="?", metavar="LOG.mcap", help="a recorded drive; else a live car"
    )
    parser.add_argument(
        "--car", action=OneCar, metavar="CAR", help="the live car; or the one of a log of several"
    )
    parser.add_argument(
        "--lidar", metavar="FILE", help="the scans: a virtual car's sensors=FILE, or a pipe"
    )
    parser.add_argument("--vehicle", metavar="NAME", help="its vehicle file, if not the known one")
    begins = parser.add_mutually_exclusive_group()
    begins.add_argument("--start", metavar="X,Y,YAW_DEG", help="where it begins, roughly")
    begins.add_argument("--anywhere", action="store_true", help="look for it all over the map")
    parser.add_argument("-o", "--out", metavar="FILE", help="the poses as lines; - is the output")
    parser.add_argument("--json", action="store_true", help="print the summary as JSON")
    add_seconds(parser)


def run(args: argparse.Namespace, host: Host) -> int:
    """Run the command; return 0, or 1 if the car was not found in the end.

    Raises errors.TandemError.
    """
    start = _start(args)
    field = field_of_map(args.map)
    with ExitStack() as files:
        put = _opened(args.out, files)
        summary = _Summary()
        if args.log:
            _recorded(args, host, (field, start), (put, summary))
        else:
            run_async(_live(args, host, (field, start), (put, summary)))
    print(json.dumps(summary.figures()) if args.json else summary.text(), file=_apart(args.out))
    return summary.exit_code()


class _Summary:
    """The figures of a localisation: how well scans fitted, and with a truth the errors."""

    def __init__(self) -> None:
        self._rows: list[LocatedScan] = []
        self._squares: list[tuple[float, float]] = []

    def add(self, row: LocatedScan, truth: tuple[float, float, float] | None = None) -> None:
        self._rows.append(row)
        if truth is not None and not row.located.is_lost:
            x, y, yaw = row.located.pose
            turned = remainder(yaw - truth[2], tau)
            self._squares.append(((x - truth[0]) ** 2 + (y - truth[1]) ** 2, turned**2))

    def figures(self) -> dict[str, Any]:
        lost = sum(it.located.is_lost for it in self._rows)
        fits = [it.located.fit for it in self._rows]
        facts: dict[str, Any] = {
            "scans": len(fits),
            "fit": round(float(np.mean(fits)), 3) if fits else None,
            "lost": lost,
            "is_found": bool(self._rows) and not self._rows[-1].located.is_lost,
        }
        if self._squares:
            square_m, square_rad = np.mean(self._squares, axis=0)
            facts["rms_m"] = round(sqrt(square_m), 4)
            facts["rms_deg"] = round(degrees(sqrt(square_rad)), 3)
            facts["worst_m"] = round(sqrt(max(it for it, _ in self._squares)), 4)
        return facts

    def exit_code(self) -> int:
        return 0 if self.figures()["is_found"] else 1

    def text(self) -> str:
        facts = self.figures()
        if not facts["scans"]:
            return "no scan came with odometry at its time"
        text = f"{facts['scans']} scans, of whose rays {facts['fit']:.0%} ended on walls; "
        text += "lost" if not facts["is_found"] else "found"
        if facts["lost"]:
            text += f", {facts['lost']} scans without a place"
        if "rms_m" in facts:
            text += (
                f"\nerror in truth: {facts['rms_m'] * 100:.1f} cm and "
                f"{facts['rms_deg']:.2f} degrees rms, {facts['worst_m'] * 100:.1f} cm at worst"
            )
        return text


Begin = tuple[LikelihoodField, tuple[float, float, float] | None]
Results = tuple[Callable[[str], None], _Summary]


def _start(args: argparse.Namespace) -> tuple[float, float, float] | None:
    """Return the start of the centre of gravity; None to look for it anywhere."""
    if args.anywhere:
        return None
    return parse_start(args.start or "0,0,0")


def _opened(out: str | None, files: ExitStack) -> Callable[[str], None]:
    """Return what writes a line: to a new file, to a pipe that is there, to the output, nowhere."""
    if out is None:
        return lambda line: None
    stream: IO[str] = sys.stdout
    if out != "-":
        path = Path(out)
        is_pipe = path.is_fifo()
        stream = files.enter_context(
            path.open("w") if is_pipe else open_new(path, "the poses", "x")
        )
    return lambda line: print(line, file=stream, flush=True)


def _apart(out: str | None) -> TextIO:
    """Return where the summary goes: never among the poses."""
    return sys.stderr if out == "-" else sys.stdout


def _recorded(args: argparse.Namespace, host: Host, begin: Begin, results: Results) -> None:
    lidar = Path(args.lidar) if args.lidar else None
    drive = read_drive(args.log, args.car, lidar)
    vehicle = host.vehicles.load(args.vehicle or drive.vehicle)
    put, summary = results
    truth = true_poses(lidar) if lidar else None
    behind_m = vehicle.turns_behind_centre_m
    for row in located_drive(
        drive.scans, particles_in(begin[0], vehicle, begin[1]), mount_of(vehicle)
    ):
        put(row.line(behind_m))
        seen = truth(row.taken_s) if truth else None
        if seen is not None:
            x, y, yaw = seen
            seen = x - behind_m * cos(yaw), y - behind_m * sin(yaw), yaw
        summary.add(row, seen)


async def _live(args: argparse.Namespace, host: Host, begin: Begin, results: Results) -> int:
    if not args.lidar:
        raise UsageFault(
            "which scans?",
            expected="--lidar FILE, which a virtual car's sensors=FILE writes, or a program",
            remedy="or name the log of a drive: tandem localise MAP.yaml LOG.mcap",
        )
    opened = await host.cars.open(args.car)
    try:
        vehicle = host.vehicles.load(args.vehicle) if args.vehicle else opened.vehicle
        pipe = open_scans(args.lidar)
        try:
            await _until_over(args.seconds, _steps(opened, pipe, vehicle, begin, results), opened)
        finally:
            pipe.close()
    finally:
        await opened.close()
    return results[1].exit_code()


def _steps(
    opened: OpenCar, pipe: SensorPipe, vehicle: Vehicle, begin: Begin, results: Results
) -> Iterator[None]:
    """Take the newest scan at each step, and locate the car by it."""
    particles, mount = particles_in(begin[0], vehicle, begin[1]), mount_of(vehicle)
    track, (put, summary) = OdometryTrack(), results
    waits, next_s = None, float("-inf")
    while True:
        yield
        if opened.car.motion is not None:
            track.add(opened.car.motion)
        pipe.step(0)
        waits = pipe.take_scan() or waits
        sample = sample_of(waits, track) if waits and waits.taken_s >= next_s else None
        if sample is None:
            continue
        waits, next_s = None, sample.taken_s + 1.0 / RATE_HZ
        located = particles.step(sample.odometry, points_of(sample, mount))
        row = LocatedScan(sample.taken_s, sample.odometry, located)
        put(row.line(vehicle.turns_behind_centre_m))
        summary.add(row)


async def _until_over(seconds: float | None, steps: Iterator[None], opened: OpenCar) -> None:
    loop = asyncio.get_running_loop()
    begun_s = loop.time()
    while seconds is None or loop.time() - begun_s < seconds:
        next(steps)
        if opened.has_lost_owner():
            raise DeviceFault("the program that served the car has ended", where=opened.name)
        await asyncio.sleep(_STEP_S)
