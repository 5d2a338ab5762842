"""``tandem path``: makes paths from drives and maps, and measures how closely they were driven."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path as FilePath
from typing import Any

from host_bridge.cli.arguments.arg_types import add_columns, add_seconds, positive
from host_bridge.cli.arguments.start_option import parse_start
from host_bridge.cli.output.path_figures import figure_lines, path_figures
from host_bridge.core.errors import DataFileFault, UsageFault
from host_bridge.core.system.progress import show_step
from host_bridge.inputs.paths import (
    Path,
    PositionSample,
    TrackingError,
    path_of_drive,
    read_path,
    write_path,
)
from host_bridge.inputs.paths.area_paths import (
    PathNotes,
    centre_of_area,
    race_limits,
    race_of_area,
)
from host_bridge.inputs.paths.driven_places import reckoned_places, true_places
from host_bridge.inputs.paths.recorded_drive import SLOWEST_MPS, SPACING_M, RecordedDrive
from host_bridge.inputs.paths.recorded_poses import (
    drive_of_bag,
    drive_of_poses,
    drives_of_log,
    is_foreign,
    places_of,
)
from host_bridge.logs.new_file import refuse_unwritable
from host_bridge.logs.reading import cars_in, read
from host_bridge.logs.reading import facts as facts_of_log
from host_bridge.ros2.messages.pose_topic import record_poses
from host_bridge.sharing.services import Host
from sim_mock.tracks.driving_area import Pose as Start
from sim_mock.tracks.loading import track_names

EPILOG = """\
A drive as a path, and driven again:
  tandem drive --car sim://f1tenth --record lap.mcap
  tandem path record lap.mcap -o lap.csv
  tandem drive --car sim://f1tenth --input 'path:lap.csv?laps=3'
The same drive in a map's frame, by the poses of a localiser:
  tandem localise lab.yaml lap.mcap --lidar run.jsonl -o poses.jsonl
  tandem path record lap.mcap --pose poses.jsonl -o lap.csv
Of a bag or a live topic of ROS, in the frame of its poses:
  tandem path record lap.bag --topic /pf/pose/odom -o lap.csv     live without lap.bag
The centre line of a map, or of a track of sim://, and driven as fast as it can be computed:
  tandem path centre lab.yaml -o lab.csv --start 1.2,0.4,90
  tandem path centre corridor -o corridor.csv
  tandem drive 'sim://f1tenth?track=corridor&sensors=run.jsonl' --lockstep \\
    --input 'path:corridor.csv?law=stanley&laps=3' --speed 2
The line on which a car is fastest, and driven (a share of the vehicle file's accelerations):
  tandem path race corridor --vehicle f1tenth_vesc -o race.csv
  tandem drive 'sim://f1tenth_vesc?track=corridor&start=0,-0.54,0' --lockstep \\
    --input 'path:race.csv?law=lqr&laps=2&lateral=4.9&decel=3.5' --speed 4
The distance from the path by the car's own odometry (a drive prints it at its end) and in truth,
lap times, and how often the car hit a wall:
  tandem path error corridor.csv --of run.jsonl --vehicle f1tenth

examples of what follows the file in --input 'path:FILE?...':
  law=pursuit (pure pursuit, the default), law=stanley or law=lqr (a linear-quadratic regulator)
  law=mppi         plans by sampling, speed and all (pip install 'tandem-cars[mppi]'), within
                   wide=0.5 m of the path; cost=race or cost=autorally; seed=3 of what it tries
  laps=3           of a loop; laps=0 goes on until somebody ends it; a path with two ends is driven
                   once, and the car comes to rest at its end
  loop=1, loop=0   it is closed or not, whatever the loop rule says: ends within 0.5 m and a tenth
                   of the length, seen in the same direction
  pose=odometry    who says where the car is; its own reckoning unless said, else one of:
    truth, localise:lab.yaml   of a virtual car in lockstep; truth:run.jsonl, its sensors=FILE
    ros:/pf/pose/odom, tf:map>base_link, mocap:BODY (of the node vrpn_mocap)     of ROS 2
    /tmp/poses     a file or pipe: tandem localise MAP.yaml --car CAR --lidar FILE -o FILE
  at=1.2,0.4,90    where the car stands when it begins, as start= of a virtual car has it; unless
                   said, the path's first point, looking along it
  lateral=2        sideways acceleration in bends, m/s^2
  decel=1          braking before bends and ends, m/s^2
  lookahead=0.6    of pure pursuit, in m; grows with the speed unless said
  far=0.5          the car is stopped if it is farther from the path than this
"""
_SENSORS = ".jsonl"
_WRITING = ("record", "centre", "race")
# A virtual F1TENTH's true place is 0.2 m off its line after two laps of 47 m by dead reckoning
MARGIN_M = 0.3
SHARE = 0.7  # of a vehicle file's accelerations: what is left steers the car back onto its line


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command line."""
    parser.description = (
        "Make a path of a recorded drive or of a map, and see how well one was driven."
    )
    parser.epilog = EPILOG
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    what = parser.add_subparsers(dest="what", required=True, metavar="WHAT")
    recorded = what.add_parser("record", help="make a path of a log, a ROS bag or a ROS topic")
    _add_recorded(recorded)
    centre = what.add_parser("centre", help="make the centre line of a map or of a track")
    _add_area(centre)
    race = what.add_parser("race", help="make the line on which a car is fastest round a track")
    _add_race(race)
    for maker in (recorded, centre, race):
        maker.add_argument("-o", "--out", type=FilePath, required=True, metavar="FILE.csv")
    for maker in (recorded, centre):
        maker.add_argument("--spacing", type=positive, default=SPACING_M, metavar="M")
    shown = what.add_parser("show", help="show length, bends and speeds")
    error = what.add_parser("error", help="show how far a drive was from the path")
    for reader in (shown, error):
        reader.add_argument("file", type=FilePath, metavar="FILE.csv")
        add_columns(reader, "the file")
    _add_driven(error)
    for reader in (recorded, error):
        _add_poses(reader)
    for each in (recorded, centre, race, shown, error):
        each.add_argument("--json", action="store_true", help="print it as JSON")


def _add_recorded(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("log", type=FilePath, nargs="?", help="a log or bag; without one, live")
    parser.add_argument(
        "--topic", metavar="NAME", help="the topic with the poses: in the bag, or live of ROS 2"
    )
    add_seconds(parser)
    parser.add_argument("--car", metavar="NAME", help="the car, if there are several")


def _add_driven(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--of",
        type=FilePath,
        required=True,
        metavar="FILE",
        help="a virtual car's sensors=FILE.jsonl (the truth), or a log (what the car reckoned)",
    )
    parser.add_argument("--car", metavar="NAME", help="the car, in a log of several")


def _add_poses(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--vehicle",
        metavar="NAME",
        help="the vehicle type, which has the point that it turns about",
    )
    parser.add_argument(
        "--pose",
        metavar="FILE",
        help="where the car was, if not by its odometry: what tandem localise -o wrote, or "
        "truth:FILE",
    )


def _add_area(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("map", metavar="MAP.yaml", help=f"or one of {', '.join(track_names())}")
    parser.add_argument("--start", metavar="X,Y,YAW_DEG", help="the pose at which it begins")


def _add_race(parser: argparse.ArgumentParser) -> None:
    _add_area(parser)
    parser.add_argument("--vehicle", required=True, metavar="NAME", help="the vehicle type")
    parser.add_argument(
        "--margin",
        type=positive,
        default=MARGIN_M,
        metavar="M",
        help="what is left between the car and a wall (default %(default)s)",
    )
    parser.add_argument(
        "--share",
        type=positive,
        default=SHARE,
        metavar="PART",
        help="the part of the vehicle file's accelerations that is used (default %(default)s)",
    )
    parser.add_argument(
        "--speed", type=positive, metavar="MPS", help="the top speed (default: the vehicle's cap)"
    )


def run(args: argparse.Namespace, host: Host) -> int:
    """Run the command; return 0.

    Raises errors.TandemError.
    """
    facts: PathNotes = {}
    if args.what in _WRITING:
        refuse_unwritable(args.out, "the path")
    if args.what == "record":
        path = _recorded(args, host)
        if path.speeds_mps is not None and SLOWEST_MPS in path.speeds_mps:
            facts["notes"] = [f"where the car stood on its way the path asks for {SLOWEST_MPS} m/s"]
    elif args.what == "centre":
        path, facts = centre_of_area(args.map, _start(args), args.spacing, show_step)
    elif args.what == "race":
        path, facts = _race(args, host)
    else:
        path = read_path(args.file, args.columns)
        if path.unread:
            facts["notes"] = [path.unread]
    if args.what == "error":
        figures, lines = _error(args, path, host)
    else:
        if args.what != "show":
            write_path(args.out, path)
        figures = {**path_figures(path), **facts}
        lines = list(figure_lines(figures))
    print(json.dumps(figures) if args.json else "\n".join(lines))
    return 0


def _recorded(args: argparse.Namespace, host: Host) -> Path:
    source = args.log or args.topic
    if source is None:
        raise UsageFault(
            "nothing to make a path of",
            remedy="name a log or a ROS bag, or --topic /pf/pose/odom",
        )
    try:
        return path_of_drive(_drive(args, host), args.spacing)
    except ValueError as fault:
        raise DataFileFault(
            f"no path in this drive: {fault}",
            where=str(source),
            expected="a drive forward, from where the path begins",
            remedy="drive it again; the log begins where the car stands",
        ) from None


def _drive(args: argparse.Namespace, host: Host) -> RecordedDrive:
    if args.pose:
        return drive_of_poses(places_of(args.pose, _behind_m(args, host, args.log)), None)
    if args.log is None:
        print("recording poses; Ctrl-C ends", file=sys.stderr, flush=True)
        rows = record_poses(args.topic, os.environ, args.seconds)
        if not rows:
            raise DataFileFault("no pose came", where=args.topic, expected="poses that are numbers")
        return drive_of_poses(rows, None)
    if is_foreign(args.log):
        return drive_of_bag(args.log, args.topic or "")
    drives = drives_of_log(args.log)
    return drives[_one_car(args, sorted(drives))]


def _behind_m(args: argparse.Namespace, host: Host, log: FilePath | None) -> float:
    """Return the distance from the centre of gravity back to the point that the car turns about.

    By --vehicle, else by what the log says. Raises errors.TandemError.
    """
    if args.vehicle:
        return host.vehicles.load(args.vehicle).turns_behind_centre_m
    cars = cars_in(facts_of_log(log)) if log else {}
    found = [it["vehicle"] for name, it in cars.items() if args.car in (None, name)]
    if len(found) != 1:
        raise UsageFault(
            "poses are of the centre of gravity: which vehicle drove?",
            expected="--vehicle NAME, or the log of its drive",
            got=f"{len(found)} cars in the log" if log else "no log",
        )
    return host.vehicles.load(found[0]).turns_behind_centre_m


def _one_car(args: argparse.Namespace, cars: list[str]) -> str:
    log = args.log if args.what == "record" else args.of
    if args.car is None and len(cars) == 1:
        return cars[0]
    if args.car in cars:
        return str(args.car)
    raise DataFileFault(
        f"no drive of {args.car or 'one car'} in it",
        where=str(log),
        expected=f"--car {' or '.join(cars)}" if cars else "a log of a drive",
        got=args.car or f"{len(cars)} cars",
    )


def _start(args: argparse.Namespace) -> Start | None:
    return Start(*parse_start(args.start)) if args.start else None


def _race(args: argparse.Namespace, host: Host) -> tuple[Path, PathNotes]:
    vehicle = host.vehicles.load(args.vehicle)
    limits = race_limits(vehicle, args.speed, args.share)
    path, facts = race_of_area(args.map, _start(args), vehicle, limits, args.margin, show_step)
    drive = (
        f"--input 'path:{args.out}?law=lqr&laps=2&lateral={limits.lateral_mps2:g}"
        f"&decel={limits.decel_mps2:g}' --speed {limits.top_mps:g}"
    )
    return path, {**facts, "drive": drive}


def _error(args: argparse.Namespace, path: Path, host: Host) -> tuple[dict[str, Any], list[str]]:
    is_truth = args.of.suffix == _SENSORS and not args.pose
    found: Iterator[tuple[PositionSample, int | None]] = _reckoned(args, path)
    if args.pose:
        found = _tracked(args, host)
    elif is_truth:
        vehicle = host.vehicles.load(args.vehicle) if args.vehicle else None
        found = true_places(args.of, vehicle.turns_behind_centre_m if vehicle else 0.0)
    places = list(found)
    if not places:
        raise DataFileFault(
            "there is no pose of a car in this file",
            where=str(args.of),
            expected=f"a log of a drive, or the {_SENSORS} of a virtual car's sensors=FILE",
            remedy="tandem drive --record FILE.mcap writes such a log",
        )
    tracking_error = TrackingError(path)
    for position, _ in places:
        tracking_error.add(position)
    figures, lines = tracking_error.figures(), tracking_error.lines()
    if is_truth:
        hits = places[-1][1]
        figures["hits"] = hits
        lines.append("no walls" if hits is None else f"hit walls {hits} times")
    return figures, lines


def _tracked(args: argparse.Namespace, host: Host) -> Iterator[tuple[PositionSample, None]]:
    """Yield the places by a pose source, in its own frame."""
    for it in places_of(args.pose, _behind_m(args, host, args.of)):
        yield PositionSample(it.taken_s, it.x_m, it.y_m), None


def _reckoned(args: argparse.Namespace, path: Path) -> Iterator[tuple[PositionSample, None]]:
    """Yield the dead-reckoned places of the log's car."""
    rows = [
        (it.time_us, it.car, it.value)
        for it in read(args.of)
        if it.topic == "motion" and isinstance(it.value, dict)
    ]
    car = _one_car(args, sorted({name for _, name, _ in rows}))
    of_car = ((time_us, row) for time_us, name, row in rows if name == car)
    yield from ((place, None) for place in reckoned_places(of_car, path))
