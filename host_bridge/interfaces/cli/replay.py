"""``tandem replay``: a real car's log, driven again by its twin, and how far they are apart."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from calibration import results
from calibration.parameters import known_values
from calibration.replay import Replay, Summary, calibrate, replay
from calibration.samples import Run, read_bag_run, read_run
from host_bridge.domain import Vehicle
from host_bridge.errors import UsageFault, VehicleFileFault
from host_bridge.interfaces.cli.typed import day
from host_bridge.services import Host

EPILOG = """\
The twin is the vehicle's plant with the numbers of a calibration. It begins where the car began and
is never put right on the way. Beside it runs the kinematic model with the vehicle file's numbers.

COMMANDS has the columns t_s, channel (throttle or steering), value_norm (-1 to 1, left is up),
with every message of the driver, as they queue on the way. ODOMETRY has header_t_s, x_m, y_m,
yaw_rad. A bag of ROS 1 or 2 (.bag, .mcap, .db3 or a folder) has both in its topics: /drive, in m/s
and rad, and /odom.

examples:
  tandem replay --commands run_commands.csv --against run_odometry.csv --out run.png
  tandem replay --commands run_commands.csv --against run_odometry.csv --calibration none
  tandem replay --vehicle nigel --bag run.bag --odom-topic /odometry
  tandem replay --commands a.csv b.csv --against a_odometry.csv b_odometry.csv \\
                --fit my_nigel.toml --date 2026-05-01
"""
NONE = "none"
ROWS_S = 0.5  # between the lines of the table


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command line."""
    parser.description = "Drive the twin with a real driver's log; print how far it is off."
    parser.epilog = EPILOG
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    add = parser.add_argument
    add("--commands", type=Path, nargs="+", default=[], metavar="FILE", help="what was driven")
    add("--against", type=Path, nargs="+", default=[], metavar="FILE", help="what came of it")
    add("--bag", type=Path, nargs="+", default=[], metavar="FILE", help="bags that have both")
    add("--drive-topic", default="", metavar="TOPIC", help="of a bag (/drive)")
    add("--odom-topic", default="", metavar="TOPIC", help="of a bag (/odom)")
    add("--vehicle", default="nigel", help="the type of car (nigel)")
    add("--calibration", metavar="FILE", help="its numbers; none: the vehicle file's (its own)")
    add("--fit", type=Path, metavar="FILE", help="fit a calibration on these runs, and write it")
    add("--date", type=day, help="of the fit, for the file: YYYY-MM-DD")
    add("--json", action="store_true", help="print what a program would read, sample by sample")
    add("--out", type=Path, metavar="FILE.png", help="draw it; one run only")


def run(args: argparse.Namespace, host: Host) -> int:
    """Raises errors.UsageFault, DataFileFault, VehicleFileFault."""
    _refuse(args)
    vehicle = host.vehicles.load(args.vehicle)
    pairs = zip(args.commands, args.against, strict=True)
    runs = [read_run(commands, odometry) for commands, odometry in pairs]
    topics = args.drive_topic, args.odom_topic
    runs += [read_bag_run(bag, vehicle, *topics) for bag in args.bag]
    calibration = _fitted(args, vehicle, runs) if args.fit else _chosen(args.calibration, vehicle)
    if args.fit and calibration:
        args.fit.write_text(results.written(calibration), encoding="utf-8")
    values = calibration.values if calibration else known_values(vehicle)
    shown = [replay(vehicle, values, one) for one in runs]
    if args.json:
        print(json.dumps([_row(one, calibration) for one in shown]))
    else:
        print("\n".join(_lines(shown, calibration)))
    if args.out:
        _draw(shown[0], args.out)
    return 0


def _refuse(args: argparse.Namespace) -> None:
    if len(args.commands) != len(args.against):
        got = f"{len(args.commands)} and {len(args.against)}"
        raise UsageFault("--commands and --against do not pair", expected="as many", got=got)
    if not (args.commands or args.bag):
        raise UsageFault("no drive was given", expected="--commands with --against, or --bag")
    if bool(args.fit) != bool(args.date):
        raise UsageFault("a fit has a date", expected="--fit FILE --date YYYY-MM-DD, or neither")
    if args.fit and args.calibration:
        raise UsageFault("--fit makes a calibration", expected="--fit or --calibration, not both")
    if args.out and len(args.commands) + len(args.bag) > 1:
        raise UsageFault("--out draws one run", expected="one FILE each", got="several")


def _fitted(args: argparse.Namespace, vehicle: Vehicle, runs: Sequence[Run]) -> results.Calibration:
    command = f"tandem replay --vehicle {args.vehicle}"
    for option, paths in _files(args).items():
        command += f" --{option} " + " ".join(path.name for path in paths) if paths else ""
    for option in ("drive_topic", "odom_topic"):
        given = getattr(args, option)
        command += f" --{option.replace('_', '-')} {given}" if given else ""
    return results.Calibration(
        vehicle=vehicle.name,
        date=args.date.isoformat(),
        command=f"{command} --fit {args.fit.name} --date {args.date.isoformat()}",
        data=tuple(map(results.Source.of, runs)),
        estimates=tuple(calibrate(vehicle, runs)),
    )


def _files(args: argparse.Namespace) -> dict[str, list[Path]]:
    return {"commands": args.commands, "against": args.against, "bag": args.bag}


def _chosen(wanted: str | None, vehicle: Vehicle) -> results.Calibration | None:
    path = Path(wanted) if wanted else results.found(vehicle.name)
    if wanted == NONE or path is None:
        return None
    calibration = results.read(path)
    if calibration.vehicle != vehicle.name:
        raise VehicleFileFault(
            "the calibration of another type of car",
            where=str(path),
            expected=vehicle.name,
            got=calibration.vehicle,
            remedy=f"tandem replay --vehicle {calibration.vehicle}",
        )
    return calibration


def _row(shown: Replay, calibration: results.Calibration | None) -> dict[str, Any]:
    o = shown.run.odometry
    models = {"twin": shown.twin, "untuned": shown.untuned}
    return {
        "commands": shown.run.commands.file,
        "odometry": o.file,
        "was_fitted_on": bool(calibration and calibration.was_fitted_on(shown.run)),
        "t_s": o.t_s.tolist(),
        **{
            name: {
                "position_error_m": shown.errors(poses).position_m.tolist(),
                "yaw_error_rad": shown.errors(poses).yaw_rad.tolist(),
                **shown.errors(poses).summary(shown.since)._asdict(),
            }
            for name, poses in models.items()
        },
    }


def _lines(shown: Sequence[Replay], calibration: results.Calibration | None) -> Iterator[str]:
    yield from _numbers(calibration) if calibration else ("numbers of the vehicle file", "")
    for one in shown:
        fitted = " (was fitted on)" if calibration and calibration.was_fitted_on(one.run) else ""
        yield f"{one.run.commands.file} against {one.run.odometry.file}{fitted}"
        yield from _over_time(one)
        yield ""
        yield _HEAD
        yield _summed("twin", one.errors(one.twin).summary(one.since))
        yield _summed("untuned", one.errors(one.untuned).summary(one.since))
        yield ""


def _numbers(calibration: results.Calibration) -> Iterator[str]:
    yield f"calibration of {calibration.vehicle}, {calibration.date}; 95 % intervals"
    for one in calibration.estimates:
        told = "" if one.is_fitted else "  not told by the data: left at the known value"
        yield f"  {one.name:24}{one.value:9.4g}  {one.low:9.4g} to {one.high:<9.4g}{told}".rstrip()
    yield ""


def _over_time(shown: Replay) -> Iterator[str]:
    yield "                the car            twin is off      untuned is off"
    yield "   t s     x m     y m     rad        m     rad        m     rad"
    o, twin, untuned = shown.run.odometry, shown.errors(shown.twin), shown.errors(shown.untuned)
    next_s = shown.run.commands.t_s[0]
    for i in range(shown.since, len(o.t_s)):
        if o.t_s[i] < next_s:
            continue
        next_s += ROWS_S
        car = f"{o.t_s[i]:6.2f} {o.x_m[i]:7.3f} {o.y_m[i]:7.3f} {o.yaw_rad[i]:7.3f}"
        own = f"{twin.position_m[i]:8.3f} {twin.yaw_rad[i]:7.3f}"
        yield f"{car} {own} {untuned.position_m[i]:8.3f} {untuned.yaw_rad[i]:7.3f}"


_HEAD = "           rms m  worst m   last m  rms rad    worst     last"


def _summed(name: str, summary: Summary) -> str:
    return f"{name:8}" + " ".join(f"{amount:8.3f}" for amount in summary)


def _draw(shown: Replay, path: Path) -> None:
    from calibration.picture import draw  # with matplotlib, which only a picture needs

    twin, untuned = (shown.errors(p).summary(shown.since) for p in (shown.twin, shown.untuned))
    title = (
        f"{shown.run.commands.file}: rms {twin.position_rms_m:.3f} m, {twin.yaw_rms_rad:.3f} rad; "
        f"untuned {untuned.position_rms_m:.3f} m, {untuned.yaw_rms_rad:.3f} rad"
    )
    draw(shown, title, path)
