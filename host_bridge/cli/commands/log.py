"""``tandem log FILE``: describes a log, and exports it as CSV or as a ROS 2 bag."""

from __future__ import annotations

import argparse
import json
import shlex
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

from host_bridge.core import Vehicle
from host_bridge.core.errors import DataFileFault, VehicleFileFault
from host_bridge.logs import tables
from host_bridge.logs.new_file import open_new
from host_bridge.logs.reading import LogSummary, cars_in, summary
from host_bridge.ros2.messages.bag import write_bag
from host_bridge.sharing.services import Host
from host_bridge.station.views.foxglove_layout import layout_for

EPILOG = """\
examples:
  tandem log drive.mcap         cars, channels, notes, how long, whether it was cut short
  tandem log drive.mcap --json  the same, for a program
  tandem log drive.mcap --csv out/
                                as files of comma separated values, a file for each kind of row of
                                each car; CAR_commands.csv and CAR_odometry.csv can be driven again
  tandem log drive.mcap --ros bag.mcap
                                as a bag of ROS 2: ros2 bag play bag.mcap, or tandem replay --bag
  tandem log drive.mcap --foxglove-layout layout.json
                                a layout for Foxglove, which draws the cars of this log
  tandem replay drive.mcap --car nigel
                                by what a car of a log differs from its twin
  tandem log --samples out/     a drive of a virtual Nigel as two such files, to try both with:
                                tandem drive --car sim://nigel \\
                                  --input csv:out/nigel_slalom_commands.csv
  tandem monitor "replay://drive.mcap?car=nigel&speed=2"
                                see it again, twice as fast

Foxglove opens the file as it is: its 3D, image and log panels draw the channels in its own schemas.
"""
_BRIDGE = "h_bridge"  # the kind of drive channel that tandem replay can model


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command line."""
    parser.description = "Show what a log (MCAP) of Tandem holds."
    parser.epilog = EPILOG
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("file", type=Path, nargs="?", help="the log file")
    what.add_argument(
        "--samples",
        type=Path,
        metavar="FOLDER",
        help="write two sample files, of commands and of odometry, to this folder",
    )
    shown = parser.add_mutually_exclusive_group()
    shown.add_argument("--json", action="store_true", help="print the outcome as JSON")
    shown.add_argument(
        "--csv", type=Path, metavar="FOLDER", help="write its rows as CSV files to this folder"
    )
    shown.add_argument(
        "--ros", type=Path, metavar="OUT.mcap", help="write it as a ROS 2 bag (MCAP)"
    )
    shown.add_argument(
        "--foxglove-layout",
        type=Path,
        metavar="OUT.json",
        help="write a layout for Foxglove in which its cars are drawn",
    )


def run(args: argparse.Namespace, host: Host) -> int:
    """Run the command; return 0.

    Raises errors.DataFileFault for a file that is no log.
    """
    if args.samples:
        copied = tables.copy_samples(args.samples)
        print("\n".join(str(path) for path in copied))
        return 0
    if args.ros:
        counts = write_bag(args.file, args.ros, lambda name: _vehicle(name, host))
        print("\n".join(f"{count:9} {topic}" for topic, count in sorted(counts.items())))
        return 0
    found = summary(args.file)
    if args.foxglove_layout:
        _write_layout(args.file, args.foxglove_layout, sorted(cars_in(found.facts)))
        return 0
    if args.csv:
        print("\n".join(_exported(args.file, args.csv, found, host)))
        return 0
    print(json.dumps(_row(found), indent=2) if args.json else "\n".join(_lines(found)))
    return 0


def _write_layout(log: Path, path: Path, cars: list[str]) -> None:
    if not cars:
        raise DataFileFault(
            "no car is in this log", where=str(log), expected="a log of a car that was identified"
        )
    with open_new(path, "the layout") as file:
        file.write(json.dumps(layout_for(cars), indent=2).encode() + b"\n")
    print(f"{path}: a layout for {', '.join(cars)}")


def _exported(log: Path, folder: Path, found: LogSummary, host: Host) -> Iterator[str]:
    written = tables.write_tables(log, folder)
    yield f"{len(written)} files of rows in {folder}/"
    for car, facts in cars_in(found.facts).items():
        yield from _again(log, folder, car, facts.get("vehicle"), host)


def _again(log: Path, folder: Path, car: str, type_of_car: str | None, host: Host) -> Iterator[str]:
    """Export one car's commands and odometry, and yield the commands that drive it again."""
    vehicle = _vehicle(type_of_car, host)
    if vehicle is None:
        yield f"{car}: no such vehicle file here ({type_of_car}), so its commands are left out"
        return
    run = tables.write_run(log, folder, car, vehicle)
    if run is None:
        yield f"{car}: was not driven in this log"
        return
    for channel, (count, most) in run.clipped.items():
        yield f"{car}: {count} commands of {channel} are clipped, the farthest from {most:.2f} to 1"
        yield f"  of the limit in {type_of_car}'s file: is it another file than that of the log?"
    commands, odometry = shlex.quote(str(run.commands)), shlex.quote(str(run.odometry))
    yield f"{car}, to drive it again:"
    yield f"  tandem drive --car sim://{type_of_car} --input csv:{commands}"
    if any(channel["kind"] == _BRIDGE for channel in vehicle.channels):
        numbers = " --calibration none" if run.is_virtual else ""  # a virtual car has the file's
        yield f"  tandem replay --vehicle {type_of_car}{numbers} \\"
        yield f"    --commands {commands} --against {odometry}"


def _vehicle(name: str | None, host: Host) -> Vehicle | None:
    """Return the vehicle of that name, or None if its file is not here."""
    try:
        return host.vehicles.load(name) if name else None
    except VehicleFileFault:
        return None


def _row(found: LogSummary) -> dict[str, object]:
    counts = [
        {"car": car, "topic": topic, "records": count}
        for (car, topic), count in found.counts.items()
    ]
    return {**asdict(found), "counts": counts, "duration_s": _duration_s(found)}


def _lines(found: LogSummary) -> Iterator[str]:
    ending = "" if found.is_complete else ", cut short"
    yield f"{_duration_s(found):.1f} s{ending}"
    for name, facts in found.facts.items():
        yield f"{name}: " + ", ".join(
            f"{key.replace('_', ' ')} {value}" for key, value in facts.items()
        )
    for (car, topic), count in sorted(found.counts.items()):
        yield f"{count:9} {car}/{topic}"
    for note in found.notes:
        yield f"note: {note}"


def _duration_s(found: LogSummary) -> float:
    return (found.last_us - found.first_us) * 1e-6
