"""The work of ``tandem calibrate``: reads logs of one car and identifies its parameters."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any

from calibration.commands.calibrate_report import CalibrationReport
from calibration.files.calibration import Calibration
from calibration.logs.trace import DriveTrace, refuse_several_cars
from calibration.logs.trace_reader import Load, LogChoices, read_trace
from calibration.logs.tracked_positions import with_tracked_positions
from calibration.regression.identify import identify
from host_bridge.core import Vehicle
from host_bridge.core.errors import UsageFault


def read_log(
    path: Path,
    choices: Mapping[str, Any],
    load: Load,
    tape_m: float | None,
    places: Path | None,
) -> DriveTrace:
    """Read a log, with the length of its tape and with its tracked positions, if there are any.

    ``choices`` are the fields of ``LogChoices``. Raises errors.TandemError.
    """
    trace = read_trace(path, LogChoices(**choices), load, tape_m)
    return with_tracked_positions(trace, places) if places else trace


def report(
    traces: Sequence[DriveTrace], load: Callable[[str], Vehicle], day: date, command: str
) -> CalibrationReport:
    """Identify one car from its logs; ``load`` returns its vehicle, given the type in the logs.

    Raises errors.UsageFault for logs of several cars, and what ``load`` raises.
    """
    if len({trace.vehicle for trace in traces}) > 1:
        names = ", ".join(f"{trace.file}: {trace.vehicle}" for trace in traces)
        raise UsageFault("the logs are of several types of car", expected="one car", got=names)
    refuse_several_cars(traces)
    vehicle = load(traces[0].vehicle)
    found = identify(traces, vehicle)
    calibration = Calibration.of_logs(found, traces, vehicle.name, day.isoformat(), command)
    return CalibrationReport(found, traces, vehicle, calibration)
