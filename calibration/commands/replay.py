"""The work of ``tandem replay``: reads runs, chooses or fits a calibration, and replays them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeAlias

from calibration.bayesian_fit.parameters import known_values
from calibration.bayesian_fit.run_fit import fit_runs
from calibration.commands.replay_report import ReplayReport, Shown
from calibration.files.calibration import Calibration
from calibration.files.calibration_file import OWN, calibration_of, shipped_calibration
from calibration.files.calibration_text import calibration_text
from calibration.logs.ros_bag import read_run_bag
from calibration.logs.run import Run
from calibration.logs.run_csv import read_run_csv
from calibration.logs.run_log import LoggedRun, read_log_runs
from calibration.logs.run_tracked import with_tracked
from calibration.logs.trace import DriveTrace
from calibration.replay.band import driven_steering
from calibration.replay.cause_fit import ComparedDrive, search
from calibration.replay.cause_report import CauseReport
from calibration.replay.pose_drive import PoseDrive
from calibration.replay.replay import replay
from calibration.simulation.log_drive import LogDrive
from calibration.simulation.twin import Twin
from host_bridge.config import vehicle_word
from host_bridge.core import Vehicle
from host_bridge.core.errors import NotHeldFault, UsageFault

Progress: TypeAlias = Callable[[float], None]
ReadTrace: TypeAlias = Callable[[], "DriveTrace | None"]
NONE = "none"
_VEHICLE = "nigel"
_POSES_ARE_TRUE = (
    "this takes its poses for where it was; if they were reckoned from its own wheels and gyro, "
    "what is wrong with those looks like a load or a steering gain: --tracked FILE tells them apart"
)


@dataclass(frozen=True)
class Runs:
    """The runs to replay, of one type of car; ``is_virtual`` if one was of a virtual car.

    ``traces`` reads for each what its own sensors told, None where nothing says that: a search for
    causes alone asks for it. ``is_tracked`` if the poses are what somebody else saw.
    """

    vehicle: Vehicle
    runs: Sequence[Run]
    is_virtual: bool
    traces: Sequence[ReadTrace]
    is_tracked: bool = False

    def fitted(self, path: Path, day: str, command: str) -> ReplayReport:
        """Fit a calibration on all runs, write it, and replay them by it."""
        calibration = _fit(self.vehicle, self.runs, day, command)
        path.write_text(calibration_text(calibration), encoding="utf-8")
        return self._by(calibration)

    def leave_one_out(self, command: str) -> ReplayReport:
        """Replay each run by a fit on all the others."""
        shown = []
        for run in self.runs:
            others = [one for one in self.runs if one is not run]
            shown.append(_replayed(self.vehicle, run, _fit(self.vehicle, others, "", command)))
        return ReplayReport(shown, is_each=True)

    def by_file(self, wanted: str | None, progress: Progress = lambda _: None) -> ReplayReport:
        """Replay all runs by a calibration file, by ``own`` or by ``none``, and look for causes.

        ``progress`` hears the share of the search that is done. None is ``none`` if a car was
        virtual, which had the vehicle file's values, else ``own``.
        Raises errors.UsageFault, errors.VehicleFileFault.
        """
        wanted = wanted or (NONE if self.is_virtual else OWN)
        calibration = _chosen(wanted, self.vehicle)
        causes = []
        for at, (run, read) in enumerate(zip(self.runs, self.traces, strict=True)):
            hear = _part_of(progress, at, len(self.runs))
            trace = read()
            found = _cause(self.vehicle, calibration, run, trace, hear)
            premise = "" if trace or self.is_tracked else _POSES_ARE_TRUE
            causes.append(replace(found, premise=premise))
        return replace(self._by(calibration), causes=causes)

    def _by(self, calibration: Calibration | None) -> ReplayReport:
        shown = [_replayed(self.vehicle, run, calibration) for run in self.runs]
        return ReplayReport(shown, is_each=False)


def read_runs(
    logs: Sequence[Path],
    pairs: Sequence[tuple[Path, Path]],
    bags: Sequence[Path],
    options: Mapping[str, str],
    load: Callable[[str], Vehicle],
    columns: Mapping[str, str] | None = None,
    tracked: Path | None = None,
) -> Runs:
    """Read runs from logs of Tandem, pairs of CSV files and bags.

    ``options``: the ``car`` of logs, the ``vehicle``, and a bag's ``drive_topic`` and
    ``odom_topic``; "" is none. ``columns``: the CSV files' names of columns by ours.
    ``tracked``: a file of positions that somebody else saw, in place of the odometry. Raises
    errors.UsageFault, DataFileFault, VehicleFileFault.
    """
    logged = [it for log in logs for it in read_log_runs(log, options["car"], load)]
    wanted = vehicle_word(load(options["vehicle"])) if options["vehicle"] else ""
    vehicle = load(_vehicle_of(wanted, logged))
    runs = [read_run_csv(commands, odometry, columns) for commands, odometry in pairs]
    topics = options["drive_topic"], options["odom_topic"]
    runs += [read_run_bag(bag, vehicle, *topics) for bag in bags]
    runs += [it.run for it in logged]
    traces: list[ReadTrace] = [_no_trace] * (len(runs) - len(logged))
    traces += [it.trace for it in logged]
    if tracked:
        runs = [_tracked(run, runs, tracked) for run in runs]
        traces = [_no_trace]
    return Runs(vehicle, runs, any(it.is_virtual for it in logged), traces, bool(tracked))


def _no_trace() -> None:
    """Return None: tables and bags say nothing of a car's own sensors."""


def _tracked(run: Run, runs: Sequence[Run], path: Path) -> Run:
    if len(runs) > 1:
        raise UsageFault(
            "--tracked has the places of one drive",
            expected="one run",
            got=f"{len(runs)} runs",
            remedy="replay each by itself, with its own file; a log of several needs --car NAME",
        )
    return with_tracked(run, path)


def _part_of(progress: Progress, at: int, count: int) -> Progress:
    return lambda share: progress((at + share) / count)


def _cause(
    vehicle: Vehicle,
    calibration: Calibration | None,
    run: Run,
    trace: DriveTrace | None,
    progress: Progress,
) -> CauseReport:
    """Look for what this car differs by from the twin that it was replayed on."""
    twin, values = Twin(vehicle), calibration.values if calibration else known_values(vehicle)
    try:
        if trace:
            drive: ComparedDrive = LogDrive(
                vehicle, trace, twin.tuned(values) if calibration else None
            )
        else:
            drive = PoseDrive(twin, values, run)
    except NotHeldFault as fault:
        return CauseReport(None, fault.what)
    return CauseReport(search(drive, progress))


def _replayed(vehicle: Vehicle, run: Run, calibration: Calibration | None) -> Shown:
    values = calibration.values if calibration else known_values(vehicle)
    return replay(vehicle, values, run, calibration), calibration


def _vehicle_of(wanted: str, logged: Sequence[LoggedRun]) -> str:
    """Return the vehicle file that was asked for, or the logs'; a name if nobody says.

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


def _fit(vehicle: Vehicle, runs: Sequence[Run], day: str, command: str) -> Calibration:
    fit = fit_runs(vehicle, runs)
    fit = replace(fit, steering=driven_steering(list(runs), fit.values))
    return Calibration.of_fit(fit, runs, vehicle.name, day, command)


def _chosen(wanted: str, vehicle: Vehicle) -> Calibration | None:
    if wanted == NONE or (wanted == OWN and shipped_calibration(vehicle.name) is None):
        return None
    calibration = calibration_of(vehicle.name, wanted)
    if calibration.fit is None:
        raise UsageFault(
            "this calibration is one of tandem calibrate, without what an odometry sees of a car",
            where=wanted,
            expected="one that tandem replay --fit wrote",
            remedy=f"its car can be driven: sim://{vehicle.name}?calibration={wanted}",
        )
    return calibration
