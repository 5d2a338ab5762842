"""``tandem replay``: drives a twin by a real car's log, and measures how far they are apart."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from host_bridge.cli.arguments.arg_types import add_columns, day
from host_bridge.cli.arguments.calibration_work import calibration_work
from host_bridge.cli.arguments.picture_option import prepare_picture
from host_bridge.core.errors import UsageFault
from host_bridge.core.files import format_columns
from host_bridge.logs.new_file import refuse_unwritable
from host_bridge.sharing.services import Host

EPILOG = """\
The twin is the vehicle's plant with the numbers of a calibration. It begins where the car began and
is never put right on the way. Beside it runs the kinematic model with the vehicle file's numbers.
The band says where the car would be seen all the way in 90 of 100 runs: what the fit does not know
is in it, and what differs from run to run. Steering beyond that of the fitted runs is marked.

At last it says by which single cause the car differs from the twin, as if trimmed 2.0 deg to the
right (1.7 to 2.3; 95 %), between which two that is undecided, or that they differ no more than two
runs of one car; and which causes this drive could not tell, as grip where it never came near its
limit. A LOG tells most: it holds counts, gyro, accelerometer and what the motor got. Poses tell
trim, steering, delays and speed. It takes some seconds for each drive; of LOGs the first minute.

--leave-one-out tries a calibration: each run is predicted by a fit on all the others.

COMMANDS has the columns t_s, channel (throttle or steering), value_norm (-1 to 1, left is up),
with every message of the driver, as they queue on the way. ODOMETRY has header_t_s, x_m, y_m,
yaw_rad. A bag of ROS 1 or 2 (.bag, .mcap, .db3 or a folder) has both in its topics: /drive, in m/s
and rad, and /odom; or AutoDRIVE's; or Autoware's control_cmd and kinematic_state; or AutoRally's
chassisState and pose_estimate. Poses may be a motion capture's. Without poses they are reckoned,
from how far the wheels rolled (a VESC's state, encoders, wheelSpeeds, velocity_status) and an IMU.
What of a bag was not used is told, with the option that would use it.

A LOG is one of Tandem's own (tandem drive --record): its vehicle is known, and a virtual car in it
had the numbers of the vehicle file, which are then the twin's too; of one whose URI named a
calibration that is told.

examples:
  tandem replay drive.mcap
  tandem replay --commands run_commands.csv --against run_odometry.csv --out run.png
  tandem replay --commands run_commands.csv --against run_odometry.csv --calibration none
  tandem replay --vehicle nigel --bag run.bag --odom-topic /odometry
  tandem replay --vehicle f1tenth --bag run.mcap --odom-topic /vicon/car/car
  tandem replay --vehicle autorally --bag run.bag --drive-topic /joystick/chassisCommand
  tandem replay drive.mcap --tracked mocap.csv
  tandem replay --commands a.csv b.csv --against a_odometry.csv b_odometry.csv \\
                --fit my_nigel.toml --date 2026-05-01
  tandem replay --commands a.csv b.csv c.csv --against a_o.csv b_o.csv c_o.csv --leave-one-out
"""

_LINE = 30  # columns: longer than the line of progress, which it wipes


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command line."""
    parser.description = "Drive the twin with a real driver's log; print how far it is off."
    parser.epilog = EPILOG
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    _add_runs(parser)
    _add_bags(parser.add_argument_group("bags of ROS"))
    _add_twin(parser.add_argument_group("the twin"))
    shown = parser.add_argument_group("what is shown")
    shown.add_argument(
        "--json", action="store_true", help="print the outcome as JSON, sample by sample"
    )
    shown.add_argument(
        "--out", type=Path, metavar="FILE.png", help="draw the run into this file; of one run only"
    )


def _add_runs(parser: argparse.ArgumentParser) -> None:
    """Add what says which drives are replayed: our own logs, or tables."""
    parser.add_argument(
        "logs", type=Path, nargs="*", metavar="LOG", help="logs that Tandem recorded"
    )
    add = parser.add_argument_group("the drives").add_argument
    add("--car", default="", metavar="NAME", help="the car of a LOG that holds several")
    add(
        "--commands",
        type=Path,
        nargs="+",
        default=[],
        metavar="FILE",
        help="CSV files of the commands",
    )
    add(
        "--against",
        type=Path,
        nargs="+",
        default=[],
        metavar="FILE",
        help="CSV files of the odometry, one for each of --commands",
    )
    add_columns(parser, "COMMANDS or ODOMETRY")
    add(
        "--tracked",
        type=Path,
        metavar="FILE",
        help="where the car was seen from outside, in place of its odometry: CSV with t_s, x_m, "
        "y_m of a motion capture, or lines of sensors; its clock is set by the speeds",
    )


def _add_bags(group: argparse._ArgumentGroup) -> None:
    """Add the bags that are replayed, and which of their topics."""
    group.add_argument(
        "--bag",
        type=Path,
        nargs="+",
        default=[],
        metavar="FILE",
        help="ROS bags with commands and odometry",
    )
    for option, what in (("--drive-topic", "commands"), ("--odom-topic", "odometry")):
        usual = option.split("-")[2]
        group.add_argument(
            option,
            default="",
            metavar="TOPIC",
            help=f"the topic of a bag's {what} (default /{usual})",
        )


def _add_twin(group: argparse._ArgumentGroup) -> None:
    """Add the numbers by which the twin drives, and the fit of new ones."""
    add = group.add_argument
    add("--vehicle", default="", help="the vehicle type (default: the log's, else nigel)")
    add(
        "--calibration",
        metavar="FILE",
        help="the twin's numbers: a calibration file; own, which Tandem brings along (default); or "
        "none, those of the vehicle file",
    )
    add("--fit", type=Path, metavar="FILE", help="fit a calibration on these runs, and write it")
    add("--leave-one-out", action="store_true", help="predict each run by a fit on all the others")
    add("--date", type=day, help="the date of the fit, YYYY-MM-DD, for its file")


def run(args: argparse.Namespace, host: Host) -> int:
    """Run the command; return 0.

    Raises errors.UsageFault, DataFileFault, VehicleFileFault.
    """
    _refuse(args)
    prepare_picture(args.out, "--out")
    options = {key: getattr(args, key) for key in ("car", "vehicle", "drive_topic", "odom_topic")}
    pairs = list(zip(args.commands, args.against, strict=True))
    read = calibration_work("runs")
    runs = read(args.logs, pairs, args.bag, options, host.vehicles.load, args.columns, args.tracked)
    _refuse_number(args, len(runs.runs))
    command = _command(args, runs.vehicle.name)
    if args.leave_one_out:
        report = runs.leave_one_out(command)
    elif args.fit:
        report = runs.fitted(args.fit, args.date.isoformat(), command)
    else:
        report = runs.by_file(args.calibration, _show_progress)
    print(json.dumps(report.rows()) if args.json else "\n".join(report.lines()))
    if args.out:
        report.draw(args.out)
    return 0


def _show_progress(share: float) -> None:
    """Show on a terminal how far the search for a cause is: it takes some seconds."""
    if not sys.stderr.isatty():
        return
    line = f"looking for a cause: {100.0 * share:3.0f} %" if share < 1.0 else " " * _LINE
    print(f"\r{line}\r", end="", file=sys.stderr, flush=True)


def _refuse(args: argparse.Namespace) -> None:
    if len(args.commands) != len(args.against):
        got = f"{len(args.commands)} of commands and {len(args.against)} of odometry"
        raise UsageFault(
            "--commands and --against do not pair",
            expected="one file of odometry for each file of commands, in the same order",
            got=got,
            remedy="tandem replay --commands a.csv b.csv --against a_odometry.csv b_odometry.csv",
        )
    if not (args.commands or args.bag or args.logs):
        expected = "a LOG, --commands with --against, or --bag"
        raise UsageFault(
            "no drive was given",
            expected=expected,
            remedy="tandem drive --record FILE.mcap writes such a LOG",
        )
    _refuse_bags(args.logs)
    _refuse_methods(args)
    if not args.logs:  # one log may hold several drives: their number is checked after reading
        _refuse_number(args, len(args.commands) + len(args.bag))


def _refuse_bags(logs: Sequence[Path]) -> None:
    """Refuse what is given as logs of Tandem and is none."""
    bags = [log for log in logs if log.is_dir() or log.suffix in (".bag", ".db3")]
    if bags:
        raise UsageFault(
            "a bag of ROS is no log of Tandem",
            expected="--bag BAG",
            got=str(bags[0]),
            remedy=f"tandem replay --bag {bags[0]}",
        )


def _refuse_methods(args: argparse.Namespace) -> None:
    """Refuse methods that do not go together, and files that cannot be made."""
    if bool(args.fit) != bool(args.date):
        raise UsageFault(
            "a fit has a date, which its file keeps",
            expected="--fit FILE --date YYYY-MM-DD, or neither",
            got="--fit alone" if args.fit else "--date alone",
            remedy="give both, with the day on which the runs were driven",
        )
    if args.leave_one_out and (args.fit or args.calibration):
        raise UsageFault(
            "--leave-one-out makes calibrations of its own",
            expected="neither --fit nor --calibration",
            got="--fit" if args.fit else "--calibration",
            remedy=f"leave out {'--fit and --date' if args.fit else '--calibration'}",
        )
    if args.fit and args.calibration:
        raise UsageFault(
            "--fit makes a calibration, and --calibration takes one that is there",
            expected="--fit or --calibration, not both",
            remedy="to see how well the new one predicts: --leave-one-out without either",
        )
    if args.fit:
        refuse_unwritable(args.fit, "the calibration")


def _refuse_number(args: argparse.Namespace, runs: int) -> None:
    if args.out and runs > 1:
        raise UsageFault(
            "--out draws one run",
            expected="one drive",
            got=f"{runs} drives",
            remedy="draw each by itself; a log with several cars needs --car NAME",
        )
    if args.leave_one_out and runs < 2:
        raise UsageFault(
            "--leave-one-out fits on the other runs, and there are none",
            expected="two runs at least",
            got=f"{runs}",
            remedy="name further logs, or more files after --commands and --against",
        )


def _command(args: argparse.Namespace, vehicle: str) -> str:
    command = f"tandem replay --vehicle {vehicle}"
    command += "".join(f" {log.name}" for log in args.logs)
    command += f" --car {args.car}" if args.car else ""
    for option, paths in _files(args).items():
        command += f" --{option} " + " ".join(path.name for path in paths) if paths else ""
    for option in ("drive_topic", "odom_topic"):
        given = getattr(args, option)
        command += f" --{option.replace('_', '-')} {given}" if given else ""
    command += f" --tracked {args.tracked.name}" if args.tracked else ""
    command += f" --columns {format_columns(args.columns)}" if args.columns else ""
    if not args.fit:
        return f"{command} --leave-one-out"
    return f"{command} --fit {args.fit.name} --date {args.date.isoformat()}"


def _files(args: argparse.Namespace) -> dict[str, list[Path]]:
    return {"commands": args.commands, "against": args.against, "bag": args.bag}
