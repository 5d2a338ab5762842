"""``tandem replay``: drives a twin by a real car's log, and measures how far they are apart."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from calibration.bayesian_fit.parameters import known_values
from calibration.bayesian_fit.run_fit import calibrate
from calibration.files import fit_file as results
from calibration.files.log_file import is_of_logs
from calibration.logs.run import Run
from calibration.logs.run_bag import read_bag_run
from calibration.logs.run_csv import read_run
from calibration.replay.band import driven_steering
from calibration.replay.replay import Replay, Summary, hausdorff_m, motion, replay, way_m
from calibration.simulation.twin import Poses
from calibration.vehicles.virtual_car import OWN
from host_bridge.cli.arguments.replay_log import LoggedRun, logged_runs
from host_bridge.cli.arguments.typed import day
from host_bridge.config.store import Host
from host_bridge.core import Vehicle
from host_bridge.core.errors import UsageFault, VehicleFileFault

EPILOG = """\
The twin is the vehicle's plant with the numbers of a calibration. It begins where the car began and
is never put right on the way. Beside it runs the kinematic model with the vehicle file's numbers.
The band says where the car would be seen all the way in 95 of 100 runs: what the fit does not know
is in it, and what differs from run to run. Steering beyond that of the fitted runs is marked.

--leave-one-out tries a calibration: each run is predicted by a fit on all the others.

COMMANDS has the columns t_s, channel (throttle or steering), value_norm (-1 to 1, left is up),
with every message of the driver, as they queue on the way. ODOMETRY has header_t_s, x_m, y_m,
yaw_rad. A bag of ROS 1 or 2 (.bag, .mcap, .db3 or a folder) has both in its topics: /drive, in m/s
and rad, and /odom. A LOG is one of Tandem's own (tandem drive --record): its vehicle is known, and
a virtual car in it had the numbers of the vehicle file, which are then the twin's too; of one whose
URI named a calibration that is told.

examples:
  tandem replay drive.mcap
  tandem replay --commands run_commands.csv --against run_odometry.csv --out run.png
  tandem replay --commands run_commands.csv --against run_odometry.csv --calibration none
  tandem replay --vehicle nigel --bag run.bag --odom-topic /odometry
  tandem replay --commands a.csv b.csv --against a_odometry.csv b_odometry.csv \\
                --fit my_nigel.toml --date 2026-05-01
  tandem replay --commands a.csv b.csv c.csv --against a_o.csv b_o.csv c_o.csv --leave-one-out
"""
NONE = "none"
_VEHICLE = "nigel"
ROWS_S = 0.5  # between the lines of the table


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command line."""
    parser.description = "Drive the twin with a real driver's log; print how far it is off."
    parser.epilog = EPILOG
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    add = parser.add_argument
    add("logs", type=Path, nargs="*", metavar="LOG", help="logs of Tandem's own")
    add("--car", default="", metavar="NAME", help="of such a log, if several were driven in it")
    add("--commands", type=Path, nargs="+", default=[], metavar="FILE", help="what was driven")
    add("--against", type=Path, nargs="+", default=[], metavar="FILE", help="what came of it")
    add("--bag", type=Path, nargs="+", default=[], metavar="FILE", help="bags that have both")
    add("--drive-topic", default="", metavar="TOPIC", help="of a bag (/drive)")
    add("--odom-topic", default="", metavar="TOPIC", help="of a bag (/odom)")
    add("--vehicle", default="", help="the type of car (the log's, else nigel)")
    add(
        "--calibration",
        metavar="FILE",
        help="its numbers: FILE, own, or none, the vehicle file's (own)",
    )
    add("--fit", type=Path, metavar="FILE", help="fit a calibration on these runs, and write it")
    add("--leave-one-out", action="store_true", help="fit on all runs but one, predict that one")
    add("--date", type=day, help="of the fit, for the file: YYYY-MM-DD")
    add("--json", action="store_true", help="print what a program would read, sample by sample")
    add("--out", type=Path, metavar="FILE.png", help="draw it; one run only")


def run(args: argparse.Namespace, host: Host) -> int:
    """Run the command; return 0.

    Raises errors.UsageFault, DataFileFault, VehicleFileFault.
    """
    _refuse(args)
    logged = [it for log in args.logs for it in logged_runs(log, args.car, host)]
    vehicle = host.vehicles.load(_vehicle_of(args.vehicle, logged))
    pairs = zip(args.commands, args.against, strict=True)
    runs = [read_run(commands, odometry) for commands, odometry in pairs]
    topics = args.drive_topic, args.odom_topic
    runs += [read_bag_run(bag, vehicle, *topics) for bag in args.bag]
    runs += [it.run for it in logged]
    _refuse_number(args, len(runs))
    if args.leave_one_out:
        shown = [
            _replayed(vehicle, one, _fitted(args, vehicle, [it for it in runs if it is not one]))
            for one in runs
        ]
    else:
        wanted = args.calibration or (NONE if any(it.is_virtual for it in logged) else None)
        calibration = _written(args, vehicle, runs) if args.fit else _chosen(wanted, vehicle)
        shown = [_replayed(vehicle, one, calibration) for one in runs]
    if args.json:
        print(json.dumps([_row(*one) for one in shown]))
    else:
        print("\n".join(_lines(shown, is_each=args.leave_one_out)))
    if args.out:
        _draw(*shown[0], args.out)
    return 0


Shown: TypeAlias = tuple[Replay, results.Calibration | None]


def _replayed(vehicle: Vehicle, run: Run, calibration: results.Calibration | None) -> Shown:
    values = calibration.values if calibration else known_values(vehicle)
    return replay(vehicle, values, run, calibration), calibration


def _written(
    args: argparse.Namespace, vehicle: Vehicle, runs: Sequence[Run]
) -> results.Calibration:
    calibration = _fitted(args, vehicle, runs)
    args.fit.write_text(results.written(calibration), encoding="utf-8")
    return calibration


def _vehicle_of(wanted: str, logged: Sequence[LoggedRun]) -> str:
    """Return the type of car that was asked for, or the logs'.

    Raises errors.UsageFault.
    """
    types = {it.vehicle for it in logged}
    if len(types | ({wanted} if wanted else set())) > 1:
        raise UsageFault(
            "one type of car at a time",
            expected=wanted or "logs of one type, or --car NAME",
            got=", ".join(sorted(types)),
        )
    return wanted or next(iter(types), _VEHICLE)


def _refuse(args: argparse.Namespace) -> None:
    if len(args.commands) != len(args.against):
        got = f"{len(args.commands)} and {len(args.against)}"
        raise UsageFault("--commands and --against do not pair", expected="as many", got=got)
    if not (args.commands or args.bag or args.logs):
        expected = "a LOG, --commands with --against, or --bag"
        raise UsageFault("no drive was given", expected=expected)
    if bool(args.fit) != bool(args.date):
        raise UsageFault("a fit has a date", expected="--fit FILE --date YYYY-MM-DD, or neither")
    if args.leave_one_out and (args.fit or args.calibration):
        raise UsageFault(
            "--leave-one-out makes calibrations of its own",
            expected="neither --fit nor --calibration",
        )
    if args.fit and args.calibration:
        raise UsageFault("--fit makes a calibration", expected="--fit or --calibration, not both")
    if not args.logs:  # one log may hold several drives: their number is checked after reading
        _refuse_number(args, len(args.commands) + len(args.bag))


def _refuse_number(args: argparse.Namespace, runs: int) -> None:
    if args.out and runs > 1:
        raise UsageFault("--out draws one run", expected="one drive", got=f"{runs}")
    if args.leave_one_out and runs < 2:
        raise UsageFault("--leave-one-out fits on the other runs", expected="two runs at least")


def _fitted(args: argparse.Namespace, vehicle: Vehicle, runs: Sequence[Run]) -> results.Calibration:
    fit = calibrate(vehicle, runs)
    return results.Calibration(
        vehicle=vehicle.name,
        date=args.date.isoformat() if args.date else "",
        command=_command(args, vehicle),
        data=tuple(map(results.Source.of, runs)),
        steering=driven_steering(list(runs), fit.values),
        fit=fit,
    )


def _command(args: argparse.Namespace, vehicle: Vehicle) -> str:
    command = f"tandem replay --vehicle {vehicle.name}"
    command += "".join(f" {log.name}" for log in args.logs)
    command += f" --car {args.car}" if args.car else ""
    for option, paths in _files(args).items():
        command += f" --{option} " + " ".join(path.name for path in paths) if paths else ""
    for option in ("drive_topic", "odom_topic"):
        given = getattr(args, option)
        command += f" --{option.replace('_', '-')} {given}" if given else ""
    if not args.fit:
        return f"{command} --leave-one-out"
    return f"{command} --fit {args.fit.name} --date {args.date.isoformat()}"


def _files(args: argparse.Namespace) -> dict[str, list[Path]]:
    return {"commands": args.commands, "against": args.against, "bag": args.bag}


def _chosen(wanted: str | None, vehicle: Vehicle) -> results.Calibration | None:
    path = results.found(vehicle.name) if wanted in (None, OWN) else Path(str(wanted))
    if wanted == NONE or path is None:
        return None
    if is_of_logs(path):
        raise UsageFault(
            "this calibration is one of tandem calibrate, without what an odometry sees of a car",
            where=str(path),
            expected="one that tandem replay --fit wrote",
            remedy=f"its car can be driven: sim://{vehicle.name}?calibration={path}",
        )
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
    return {
        "commands": shown.run.commands.file,
        "odometry": o.file,
        "was_fitted_on": bool(calibration and calibration.was_fitted_on(shown.run)),
        "fitted_on": [one.commands for one in calibration.data] if calibration else [],
        "lack_of_fit": calibration.fit.lack._asdict() if calibration else None,
        "band_stretch": calibration.fit.stretch if calibration else None,
        "t_s": o.t_s.tolist(),
        "car": _poses(shown, shown.car),
        "twin": _model(shown, shown.twin),
        "untuned": _model(shown, shown.untuned),
        "band": _band(shown),
    }


def _poses(shown: Replay, poses: Poses) -> dict[str, Any]:
    speed_mps, yaw_rate_radps = motion(shown.run.odometry.t_s, poses)
    return {
        "x_m": poses.x_m.tolist(),
        "y_m": poses.y_m.tolist(),
        "yaw_rad": poses.yaw_rad.tolist(),
        "speed_mps": speed_mps.tolist(),
        "yaw_rate_radps": yaw_rate_radps.tolist(),
        "way_m": way_m(poses, shown.since),
    }


def _model(shown: Replay, poses: Poses) -> dict[str, Any]:
    errors = shown.errors(poses)
    return {
        **_poses(shown, poses),
        "position_error_m": errors.position_m.tolist(),
        "yaw_error_rad": errors.yaw_rad.tolist(),
        **errors.summary(shown.since)._asdict(),
        "error_percent_of_way": _percent(shown, poses),
        "hausdorff_m": hausdorff_m(poses, shown.car),
    }


def _percent(shown: Replay, poses: Poses) -> float:
    """Return the last position error in percent of the distance that the car drove."""
    last_m = shown.errors(poses).summary(shown.since).position_last_m
    return 100.0 * last_m / max(way_m(shown.car, shown.since), 1e-6)


def _band(shown: Replay) -> dict[str, Any] | None:
    """Return the 95 % band for each sample since the first command, or None."""
    band = shown.band
    if band is None:
        return None
    return {
        "t_s": shown.run.odometry.t_s[shown.since :].tolist(),
        "position_m": band.position_m.tolist(),
        "yaw_rad": band.yaw_rad.tolist(),
        "is_inside": shown.held().tolist(),
        "is_extrapolated": band.is_beyond.tolist(),
    }


def _lines(shown: Sequence[Shown], *, is_each: bool) -> Iterator[str]:
    calibration = shown[0][1]
    if not is_each:
        yield from _numbers(calibration) if calibration else ("numbers of the vehicle file", "")
    for one, own in shown:
        fitted = " (was fitted on)" if own and own.was_fitted_on(one.run) else ""
        yield f"{one.run.commands.file} against {one.run.odometry.file}{fitted}"
        if is_each and own:
            yield f"predicted by a fit on {', '.join(it.commands for it in own.data)}"
            yield _lack(own)
        else:
            yield from _over_time(one)
            yield ""
        yield _HEAD
        yield _summed("twin", one.errors(one.twin).summary(one.since))
        yield _summed("untuned", one.errors(one.untuned).summary(one.since))
        yield from _paths(one)
        yield from _banded(one, own)
        yield ""


def _paths(shown: Replay) -> Iterator[str]:
    car_m = way_m(shown.car, shown.since)
    for name, poses in (("twin", shown.twin), ("untuned", shown.untuned)):
        percent, apart_m = _percent(shown, poses), hausdorff_m(poses, shown.car)
        way = f"last {percent:.1f} % of {car_m:.2f} m"
        yield f"{name:8} {way}; paths {apart_m:.3f} m apart (Hausdorff)"


def _banded(shown: Replay, calibration: results.Calibration | None) -> Iterator[str]:
    band, held = shown.band, shown.held()
    if band is None or calibration is None:
        return
    out = f"outside in {(~held).sum()} of {len(held)} samples"
    verdict = f"inside all the way ({len(held)} samples)" if held.all() else out
    wide = f"{band.position_m[-1]:.3f} m, {band.yaw_rad[-1]:.3f} rad either side at the end"
    yield f"band     95 %: {wide}; the car is {verdict}"
    if calibration.fit.stretch > 1.0:
        yield (
            f"         {calibration.fit.stretch:.2f} times as wide as the model says: "
            "by what the fitted runs say of one another"
        )
    if band.is_beyond.any():
        low, high = calibration.steering
        when_s = shown.run.odometry.t_s[shown.since :][band.is_beyond][0]
        told = f"fitted was steering {low:g} to {high:g}"
        yield f"         EXTRAPOLATED from {when_s:.2f} s on: {told}"


def _lack(calibration: results.Calibration) -> str:
    lack = calibration.fit.lack
    if not lack.is_flagged:
        return f"lack of fit: none seen (p = {lack.p:.2g})"
    like = f"; it looks like {lack.suspect}" if lack.suspect else ""
    return f"LACK OF FIT (p = {lack.p:.2g}): these runs are not of such a car{like}"


def _numbers(calibration: results.Calibration) -> Iterator[str]:
    yield f"calibration of {calibration.vehicle}, {calibration.date}; 95 % intervals"
    for one in calibration.estimates:
        told = "" if one.is_fitted else "  hardly told by the data: near its known value"
        yield f"  {one.name:24}{one.value:9.4g}  {one.low:9.4g} to {one.high:<9.4g}{told}".rstrip()
    low, high = calibration.steering
    yield f"  fitted with steering of {low:g} to {high:g}; {_lack(calibration)}"
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


def _draw(shown: Replay, calibration: results.Calibration | None, path: Path) -> None:
    from calibration.replay.picture import draw  # imports matplotlib, which only a picture needs

    twin, untuned = (shown.errors(p).summary(shown.since) for p in (shown.twin, shown.untuned))
    fitted = "fitted on" if calibration and calibration.was_fitted_on(shown.run) else "predicted"
    title = (
        f"{shown.run.commands.file} ({fitted}): "
        f"rms {twin.position_rms_m:.3f} m, {twin.yaw_rms_rad:.3f} rad; "
        f"untuned {untuned.position_rms_m:.3f} m, {untuned.yaw_rms_rad:.3f} rad"
    )
    draw(shown, title, path)
