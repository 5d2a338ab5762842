"""``tandem map``: makes a map of a drive with a LIDAR."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from shlex import quote
from typing import Any

import numpy as np

from host_bridge.cli.arguments.arg_types import positive
from host_bridge.core.errors import DataFileFault
from host_bridge.core.system.progress import progress_count
from host_bridge.logs.new_file import refuse_unwritable
from host_bridge.mapping.drives import ScannedDrive, read_drive
from host_bridge.mapping.occupancy import OCCUPIED, OccupancyMap, image_of, occupancy_map, write_map
from host_bridge.mapping.planar import Floats, between, composed
from host_bridge.mapping.pose_graph import aligned_poses
from host_bridge.mapping.scan_points import KeyScan, key_scans, mount_of
from host_bridge.sharing.services import Host

EPILOG = """\
examples:
A lap of a virtual car, its map, the middle of it as a path, and driven:
  tandem path centre corridor -o corridor.csv
  tandem drive 'sim://f1tenth_vesc?track=corridor&sensors=run.jsonl' --lockstep \\
    --input 'path:corridor.csv?laps=2' --speed 2 --record drive.mcap
  tandem map drive.mcap --lidar run.jsonl -o lab.yaml
  tandem path centre lab.yaml -o lab.csv
  tandem drive 'sim://f1tenth_vesc?map=lab.yaml' --input path:lab.csv
A real car, whose LIDAR a program of yours writes as lines of JSON (sim_mock/sensors/README.md):
  tandem record car -o drive.mcap --lidar car=/tmp/scans
  tandem map drive.mcap -o lab.yaml

The map is in the format of ROS's map_server: lab.yaml and lab.pgm. Its origin is where the car's
centre of gravity was at the first scan, x ahead: sim://CAR?map=lab.yaml begins there. Drive slowly
(up to 2 m/s) and close your loops: where a car comes by again the laps are laid over one another.
"""
_RESOLUTION_M = 0.05  # ROS's usual one
_FEWEST = 5  # scans that are kept; fewer are no drive


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command line."""
    parser.description = "Make a ROS map of a drive with a LIDAR, from its log."
    parser.epilog = EPILOG
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("log", type=Path, metavar="LOG.mcap", help="the log of the drive")
    parser.add_argument("--car", metavar="NAME", help="the car, if there are several")
    parser.add_argument(
        "--lidar",
        type=Path,
        metavar="FILE.jsonl",
        help="the scans, as a virtual car's sensors=FILE writes them, if the log has none or few",
    )
    parser.add_argument(
        "--vehicle",
        metavar="NAME",
        help="its vehicle file, if it is not the one that the log names",
    )
    parser.add_argument("-o", "--out", type=Path, required=True, metavar="MAP.yaml")
    parser.add_argument(
        "--resolution",
        type=positive,
        default=_RESOLUTION_M,
        metavar="M",
        help="the side of a cell (default: %(default)s m)",
    )
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")


def run(args: argparse.Namespace, host: Host) -> int:
    """Run the command; return 0.

    Raises errors.TandemError.
    """
    for file in (args.out, image_of(args.out)):
        refuse_unwritable(file, "the map")
    drive = read_drive(args.log, args.car, args.lidar)
    vehicle = host.vehicles.load(args.vehicle or drive.vehicle)
    mount = mount_of(vehicle)
    scans = key_scans(drive.scans, mount)
    if len(scans) < _FEWEST:
        raise DataFileFault(
            "the car hardly moved: no map",
            where=str(args.log),
            expected=f"a drive with scans from at least {_FEWEST} places, 0.4 m apart",
            got=f"{len(scans)} of {len(drive.scans)} scans",
        )
    poses, matches = aligned_poses(scans, progress_count("scans matched"))
    poses = _from_start(poses, vehicle.turns_behind_centre_m)
    try:
        occupancy = occupancy_map(scans, poses, mount, args.resolution)
    except ValueError as fault:
        raise DataFileFault(
            "the map would be too large",
            where=str(args.out),
            got=str(fault),
            remedy=f"a larger --resolution than {args.resolution:g}",
        ) from None
    image = write_map(args.out, occupancy)
    figures = _figures(drive, scans, poses, matches, occupancy)
    print(json.dumps(figures) if args.json else _text(figures, args.out, image))
    return 0


def _from_start(poses: Floats, behind_m: float) -> Floats:
    """Return the poses where the centre of gravity begins at 0, 0, 0; they are ``behind_m`` it."""
    start = np.array((-behind_m, 0.0, 0.0))
    return np.array([composed(start, between(poses[0], pose)) for pose in poses])


def _figures(
    drive: ScannedDrive,
    scans: list[KeyScan],
    poses: Floats,
    matches: int,
    occupancy: OccupancyMap,
) -> dict[str, Any]:
    odometry = np.array([it.sample.odometry for it in scans])
    reckoned = np.array([between(odometry[0], pose) for pose in odometry])
    found = np.array([between(poses[0], pose) for pose in poses])
    rows, columns = occupancy.cells.shape
    steps_m = np.hypot(*np.diff(poses[:, :2], axis=0).T)
    return {
        "car": drive.car,
        "scans": len(drive.scans),
        "left_out": drive.left_out,
        "kept": len(scans),
        "matches": matches,
        "distance_m": round(float(steps_m.sum()), 2),
        "odometry_off_m": round(float(np.hypot(*(reckoned - found)[:, :2].T).max()), 3),
        "width_m": round(columns * occupancy.resolution_m, 2),
        "height_m": round(rows * occupancy.resolution_m, 2),
        "wall_cells": int(np.count_nonzero(occupancy.cells == OCCUPIED)),
    }


def _text(figures: dict[str, Any], path: Path, image: Path) -> str:
    lines = [
        f"{figures['kept']} of {figures['scans']} scans on {figures['distance_m']:.1f} m, "
        f"{figures['matches']} matches; the odometry was off by {figures['odometry_off_m']:.2f} m "
        "at most",
        f"{path} and {image.name}: {figures['width_m']:.1f} by {figures['height_m']:.1f} m, "
        f"{figures['wall_cells']} cells of walls",
        f"next: tandem path centre {quote(str(path))} -o {quote(str(path.with_suffix('.csv')))}",
    ]
    if figures["left_out"]:
        lines.insert(1, f"{figures['left_out']} scans without odometry nearby were left out")
    return "\n".join(lines)
