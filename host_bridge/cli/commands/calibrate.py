"""``tandem calibrate``: identifies a car's parameters from logs of its drives, and writes them."""

from __future__ import annotations

import argparse
import json
import shlex
import sys
from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote

from host_bridge.cli.arguments.arg_types import add_columns, day, positive
from host_bridge.cli.arguments.calibration_work import NONE, calibration_work, changes_on_board
from host_bridge.cli.arguments.virtual_pipes import VIRTUAL, with_option
from host_bridge.cli.commands import drive
from host_bridge.core import Vehicle
from host_bridge.core.errors import UsageFault
from host_bridge.core.files import format_columns
from host_bridge.core.system.running import run_async
from host_bridge.link.transports.uri import Uri
from host_bridge.logs.new_file import refuse_unwritable, write_new
from host_bridge.sharing.services import Host

EPILOG = """\
A log is one that tandem record or tandem drive --record wrote; or the folder that tandem log --csv
makes of it; or a bag of ROS 1 or 2 (.bag, .mcap, .db3, a folder) with /drive, or the commands of
Autoware, AutoDRIVE or AutoRally, /odom, a VESC's /sensors/core, encoders or reported speeds, and an
IMU; what of it was not used is told; or a CSV with a column t_s and any of
  steer_rad, target_mps, effort, counts, travel_m, speed_mps, yaw_rate_radps, accel_x_mps2,
  accel_y_mps2, x_m, y_m, yaw_rad, battery_v.
What is no log of Tandem needs --vehicle. Several logs of one car are looked
at together: the more they differ, the more they tell. Where two disagree, it is said. Each value
has its 95 % interval; what the logs cannot tell is said, with the manoeuvre that would tell it, and
is nowhere made up.

By themselves a car's sensors do not know a metre of floor: --tape says how far a log's drive was,
from where the car stood to where it came to stand, straight ahead.

examples:
  tandem calibrate drive.mcap                           what it tells, and what it does not
  tandem calibrate circles.mcap straight.mcap --tape straight.mcap=6.42 --out my_car.toml
  tandem drive --car 'sim://f1tenth?calibration=my_car.toml'       the car that was found
  tandem calibrate drive.mcap --vehicle-file my_car.toml --vesc-yaml vesc.yaml
  tandem calibrate run.bag --vehicle f1tenth_vesc --pose-topic /pf/pose/odom
  tandem calibrate drive.csv --vehicle ./my_car.toml --columns t_s=time,steer_rad=delta
  tandem calibrate --guide my_car --car f1tenth         an hour on a stand and a floor, with a tape
  tandem calibrate --guide try --car sim://nigel        the same with a virtual car
  tandem calibrate drive.mcap --json                    for a program

exit codes: 0 something is told; 1 nothing is; 2 the command line is wrong; 5 a vehicle file is not
right; 7 a log is not what it should be.
"""


_WORD, _PATH, _MANY = {"default": ""}, {"type": Path}, {"action": "append", "default": []}
# fmt: off
# option, metavar, help, the rest of its arguments
OPTIONS: tuple[tuple[str, str, str, dict[str, Any]], ...] = (
    ("--car", "NAME", "the car of a log that holds several; with --guide, the car to drive", _WORD),
    ("--guide", "FOLDER", "be guided through the drives that determine every number; this folder "
     "gets their logs", _PATH),
    ("--vehicle", "NAME", "the vehicle type, or the path of its file (default: the log's)", _WORD),
    ("--tape", "[LOG=]METRES", "how far the car drove, measured with a tape on the floor; "
     "repeatable", _MANY),
    ("--places", "[LOG=]FILE", "where cameras or SLAM saw the car: CSV (t_s, x_m, y_m, yaw_rad) or "
     "a virtual car's sensors=FILE; repeatable", _MANY),
    ("--out", "FILE.toml", "write the calibration to this file", _PATH),
    ("--vehicle-file", "FILE.toml", "write it as a vehicle file", _PATH),
    ("--vesc-yaml", "FILE.yaml", "write it as F1TENTH's vesc.yaml", _PATH),
    ("--date", "YYYY-MM-DD", "the date of the calibration, for its file (default: today)",
     {"type": day}),
)
# fmt: on
# option for a bag's topic -> its help; _SERIES has its key in ``host_bridge.logs.bags.reading``
TOPICS = {
    "drive": "the topic of a bag's commands (default /drive)",
    "odom": "the topic of a bag's wheel odometry (default /odom)",
    "core": "the topic of a VESC's state in a bag (default /sensors/core)",
    "imu": "the topic of a bag's inertial sensor (default /sensors/imu/raw)",
    "pose": "the topic in a bag of where cameras or SLAM saw the car (default: none is read)",
}
_SERIES = {
    "drive": "commands",
    "odom": "odometry",
    "core": "motor",
    "imu": "inertial",
    "pose": "places",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command line."""
    parser.description = "Find a car's numbers in logs of its drives."
    parser.epilog = EPILOG
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    add = parser.add_argument
    add("logs", nargs="*", type=Path, metavar="LOG", help="logs of drives of one car")
    for option, metavar, text, more in OPTIONS:
        add(option, metavar=metavar, help=text, **more)
    for option, what in TOPICS.items():
        add(f"--{option}-topic", default="", metavar="TOPIC", help=what)
    add_columns(parser, "a CSV")
    add("--json", action="store_true", help="print the outcome as JSON")


def run(args: argparse.Namespace, host: Host) -> int:
    """Run the command; return 0 if something was identified, else 1.

    Raises errors.UsageFault, DataFileFault, VehicleFileFault.
    """
    if args.guide:
        return _guided(args, host)
    if not args.logs:
        raise UsageFault(
            "no log is named",
            expected="tandem calibrate LOG, or tandem calibrate --guide FOLDER --car CAR",
        )
    _refuse_to_overwrite(args)
    traces = read_traces(args, host)
    return _reported(args, host, traces, lambda name: host.vehicles.load(args.vehicle or name))


def _refuse_to_overwrite(args: argparse.Namespace) -> None:
    """Raise errors.DataFileFault if a file that was named cannot be written anew."""
    for path in (args.out, args.vehicle_file, args.vesc_yaml):
        if path:
            refuse_unwritable(path, "the file")


def _reported(
    args: argparse.Namespace, host: Host, traces: Sequence[Any], load: Callable[[str], Vehicle]
) -> int:
    day = args.date or datetime.now().astimezone().date()
    report = calibration_work("report")(traces, load, day, command_of(args))
    texts = {}
    if args.vesc_yaml:
        texts[args.vesc_yaml] = report.vesc_yaml()
    if args.vehicle_file:
        texts[args.vehicle_file] = report.vehicle_file(host.vehicles)
    if args.out:
        texts[args.out] = report.toml()
    for path, text in texts.items():
        write_new(path, "the file", text)
    print(json.dumps(report.row()) if args.json else "\n".join(report.lines()))
    return 0 if report.is_any_estimated else 1


def _guided(args: argparse.Namespace, host: Host) -> int:
    if args.logs or args.tape or args.places or not args.car:
        raise UsageFault(
            "--guide drives the car and asks for the tape by itself",
            expected="tandem calibrate --guide FOLDER --car CAR, and --vehicle of a served car",
            got="no --car" if not args.car else "logs, --tape or --places besides",
            remedy="name the car to drive" if not args.car else "leave them out",
        )
    _refuse_to_overwrite(args)
    vehicle = as_in_its_file(args.car, args.vehicle, host)
    guide = calibration_work("guide")
    traces = guide(args.guide, args.car, vehicle, host.vehicles.load, _driver(args.car, host)).run()
    paths = {"out": "calibration.toml", "vehicle_file": f"{vehicle.name}_calibrated.toml"}
    if "vesc" in vehicle.plant:
        paths["vesc_yaml"] = "vesc.yaml"
    for name, file in paths.items():
        if getattr(args, name) is None:  # of an earlier guide in this folder; a named one is kept
            setattr(args, name, args.guide / file)
            (args.guide / file).unlink(missing_ok=True)
    print()
    code = _reported(args, host, traces, lambda _: vehicle)
    print("\nwritten: " + ", ".join(str(getattr(args, name)) for name in paths))
    out = shlex.quote(str(args.out))
    print(f"onto the board: tandem config write {shlex.quote(args.car)} --calibration {out}")
    twin = shlex.quote(f"sim://{vehicle.name}?calibration={args.out}")
    print(f"as a virtual car: tandem drive {twin}")
    return code


def _driver(car: str, host: Host) -> Callable[[Path, Path, Path | None], tuple[int, Path | None]]:
    """Return a function that drives the car by a CSV file and records the drive.

    It returns the exit code, and the file of a virtual car's sensors, if there is one.
    """

    def drive_by(commands: Path, log: Path, sensors: Path | None) -> tuple[int, Path | None]:
        named = car
        if sensors and car.startswith(VIRTUAL):
            named = with_option(car, "sensors", quote(str(sensors)))
        words = ["--car", named, "--input", f"csv:{commands}", "--record", str(log)]
        words += ["--lockstep"] if named.startswith("sim:") else []
        parser = argparse.ArgumentParser(prog="tandem drive")
        drive.add_arguments(parser)
        args = parser.parse_args(words)
        args.command = "drive"
        code = drive.run(args, host)
        seen = Uri.parse(named).query.get("sensors") if named.startswith(VIRTUAL) else None
        return code, Path(seen) if seen else None

    return drive_by


def as_in_its_file(car: str, named: str, host: Host) -> Vehicle:
    """Return the car's vehicle as its file has it; refuse a car that was trimmed or calibrated.

    Such a car's logs have commands by the map that its board holds, but a calibration refers to its
    file's map. Raises errors.TandemError.
    """
    found: list[Vehicle] = []

    async def ask() -> int:
        opened = await host.cars.open(car, vehicle=named or None)
        found.append(opened.vehicle)
        await opened.close()
        return 0

    run_async(ask())
    file = host.vehicles.load(named or found[0].path)
    rows = [str(row["parameter"]) for row in changes_on_board(file, found[0])]
    if any(row.startswith("channel_") for row in rows):
        raise UsageFault(
            "this car was trimmed or calibrated before",
            where=car,
            expected="the pulses of its vehicle file, of which a calibration is",
            got=", ".join(rows),
            remedy=f"tandem config write {shlex.quote(car)} --calibration {NONE}, "
            "then the same words again",
        )
    return file


def read_traces(args: argparse.Namespace, host: Host) -> list[Any]:
    """Read all logs, with their tape lengths and external poses.

    Raises errors.TandemError.
    """
    tapes = taped(args.tape, args.logs)
    seen = seen_in(args.places, args.logs)
    topics = {_SERIES[option]: getattr(args, f"{option}_topic") for option in TOPICS}
    wanted = {"car": args.car, "vehicle": args.vehicle, "columns": args.columns}
    wanted["topics"] = {k: topic for k, topic in topics.items() if topic}
    read = calibration_work("read")
    traces = []
    for path in args.logs:
        print(f"reading {path}", file=sys.stderr, flush=True)
        traces.append(read(path, wanted, host.vehicles.load, tapes.get(path), seen.get(path)))
    return traces


def taped(words: Sequence[str], logs: Sequence[Path]) -> dict[Path, float]:
    """Return the tape measure of each log, in m.

    Raises errors.UsageFault.
    """
    found = {}
    for word in words:
        path, text = _log_and_rest("--tape", word, logs, "METRES")
        try:
            found[path] = positive(text)
        except argparse.ArgumentTypeError as error:
            raise UsageFault(
                f"--tape {word} is no distance: {error}",
                expected="metres, as in --tape 6.42 or --tape straight.mcap=6.42",
                got=text,
            ) from None
    return found


def seen_in(words: Sequence[str], logs: Sequence[Path]) -> dict[Path, Path]:
    """Return the file of external poses of each log.

    Raises errors.UsageFault.
    """
    meant = (_log_and_rest("--places", word, logs, "FILE") for word in words)
    return {path: Path(text) for path, text in meant}


def _log_and_rest(option: str, word: str, logs: Sequence[Path], what: str) -> tuple[Path, str]:
    """Return the log and the rest of ``LOG=REST``; for a single log REST is enough."""
    name, is_named, rest = word.rpartition("=")
    meant = [path for path in logs if not is_named or name in (str(path), path.name)]
    if len(meant) != 1:
        raise UsageFault(
            f"{option} {word} does not say of which log it is",
            expected=f"{what} where there is one log, LOG={what} where there are several",
            got=f"{word}, and {len(logs)} logs",
            remedy=f"{option} {logs[0].name}={rest}, for example" if logs else "name a log",
        )
    return meant[0], rest


def command_of(args: argparse.Namespace) -> str:
    """Return the command line as the calibration keeps it: file names without their folders."""
    words = ["tandem calibrate", *(path.name for path in args.logs)]
    words += [f"--guide {args.guide.name}"] if args.guide else []
    words += [
        f"--{name} {getattr(args, name)}" for name in ("car", "vehicle") if getattr(args, name)
    ]
    words += [f"--tape {Path(word).name}" for word in args.tape]
    words += [f"--places {Path(word).name}" for word in args.places]
    words += [f"--columns {format_columns(args.columns)}"] if args.columns else []
    return " ".join(words)
