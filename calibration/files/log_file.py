"""The file of a calibration from logs: parameter values with the provenance of their logs.

Its ``method`` distinguishes it from those of ``tandem replay --fit`` (``fit_file.py``). A
parameter that the logs do not determine is listed with the reason and has no value.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from calibration.files.source import CalibrationSource, sources_of
from calibration.logs.trace import DriveTrace
from calibration.regression.identify import Identification
from calibration.regression.parameters import (
    BY_NAME,
    LOG_PARAMETER_NAMES,
    Finding,
    not_identifiable,
)
from calibration.regression.steering_map import COLUMNS, SteeringMap
from host_bridge.core.errors import VehicleFileFault
from host_bridge.core.files import finite, misread_text

METHOD = "logs"
_REACH_RAD = 0.3  # either side of the trim; a map goes on straight beyond its ends
REMEDY = "write one with tandem calibrate LOG --out FILE.toml"
_HEAD = """\
# A calibration out of logs of drives: values with their 95 % intervals. What the logs did not tell
# has no value here, and stays as the vehicle file has it. Written by tandem calibrate."""


@dataclass(frozen=True)
class LogCalibration:
    """The parameters of one vehicle that were identified from logs, with their provenance.

    ``date`` and ``command`` say when and how it was made; ``data`` lists the logs.
    """

    vehicle: str
    date: str
    command: str
    data: tuple[CalibrationSource, ...]
    findings: tuple[Finding, ...]
    steering_map: SteeringMap | None

    @classmethod
    def of(
        cls,
        found: Identification,
        traces: Sequence[DriveTrace],
        vehicle: str,
        date: str,
        command: str,
    ) -> LogCalibration:
        data = tuple(map(CalibrationSource.of_trace, traces))
        return cls(vehicle, date, command, data, found.findings, found.steering_map)

    @property
    def values(self) -> dict[str, float]:
        """The values of the parameters that were determined."""
        return {one.name: one.value for one in self.findings if one.is_estimated}


def log_file_text(calibration: LogCalibration) -> str:
    """Return the calibration as TOML."""
    return "\n\n".join(_parts(calibration)) + "\n"


def _parts(calibration: LogCalibration) -> Iterator[str]:
    head = {key: getattr(calibration, key) for key in ("vehicle", "date", "command")}
    yield "\n".join([_HEAD, *_keys({**head, "method": METHOD})])
    for source in calibration.data:
        yield "\n".join(["[[data]]", *_keys(vars(source))])
    for one in calibration.findings:
        title = f"[parameters.{one.name}]  # {_meaning(one.name)}"
        if one.is_estimated:
            numbers = {key: _short(getattr(one, key)) for key in ("value", "low", "high")}
            yield "\n".join([title, *_keys({**numbers, "why": one.why})])
        else:
            yield "\n".join([title, *_keys({"untold": one.why})])
    if calibration.steering_map:
        steering_map = calibration.steering_map
        columns = {name: [*map(_short, values)] for name, values in steering_map.columns().items()}
        rest = {
            "residual_radps": _short(steering_map.residual_radps),
            "is_bent": steering_map.is_bent,
        }
        title = (
            "[steering_map]  # commands that were driven, the wheels' angles and their 95 % band"
        )
        yield "\n".join([title, *_keys({**columns, **rest})])


def _meaning(name: str) -> str:
    parameter = BY_NAME[name]
    return parameter.meaning + (f", {parameter.unit}" if parameter.unit else "")


def _keys(values: Mapping[str, Any]) -> list[str]:
    return [f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in values.items()]


def _short(value: float) -> float:
    return float(f"{value:.6g}")


def read_logs(path: Path, document: dict[str, Any]) -> LogCalibration:
    """Read the document of such a file. Raises errors.VehicleFileFault for one that is none."""
    try:
        rows = document.pop("parameters")
        _refuse_unknown(rows)
        findings = tuple(_finding(name, rows.get(name)) for name in LOG_PARAMETER_NAMES)
        data = tuple(one for row in document.pop("data", []) for one in sources_of(row))
        table = document.pop("steering_map", None)
        steering_map = _map(table) if table else _straight_map(findings)
        return LogCalibration(**document, data=data, findings=findings, steering_map=steering_map)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise VehicleFileFault(
            f"no calibration out of logs: {misread_text(error)}", where=str(path), remedy=REMEDY
        ) from None


def _refuse_unknown(rows: Mapping[str, Any]) -> None:
    for name in rows:
        if name not in BY_NAME:
            raise ValueError(
                f"there is no parameter {name}; known are {', '.join(LOG_PARAMETER_NAMES)}"
            )


def _finding(name: str, row: Mapping[str, Any] | None) -> Finding:
    if row is None:
        return not_identifiable(name, "it is not in the file")
    if "value" not in row:
        return not_identifiable(name, str(row["untold"]))
    value, low, high = (finite(row[key]) for key in ("value", "low", "high"))
    p = BY_NAME[name]
    if not p.low <= value <= p.high:
        raise ValueError(f"{name} is {value:g}, expected {p.low:g} to {p.high:g}")
    return Finding(name, value, low, high, str(row.get("why", "")))


def _straight_map(findings: Sequence[Finding]) -> SteeringMap | None:
    """Return the map of a file that has a trim and gains but no map, so that they are applied.

    A gain that is not told is 1. Returns None without any of them; raises ValueError for gains
    without a trim, which say nothing of where the wheels stand.
    """
    estimated = {one.name: one for one in findings if one.is_estimated}
    gains = [estimated.get(f"steer_gain_{side}") for side in ("right", "left")]
    trim = estimated.get("steer_trim_rad")
    if trim is None:
        if any(gains):
            raise ValueError("it has a steering gain and neither a trim nor a steering map")
        return None
    right, left = (one.value if one else 1.0 for one in gains)
    commanded = trim.value + np.array([-_REACH_RAD, 0.0, _REACH_RAD])
    slopes = np.array([right, max(left, right), left])
    wheel = np.array([-_REACH_RAD * right, 0.0, _REACH_RAD * left])
    below, above = (trim.high - trim.value) * slopes, (trim.value - trim.low) * slopes
    return SteeringMap(commanded, wheel, wheel - below, wheel + above, 0.0, is_bent=left != right)


def _map(table: Mapping[str, Any]) -> SteeringMap:
    if strange := sorted(set(table) - {*COLUMNS, "residual_radps", "is_bent"}):
        raise ValueError(f"steering_map has no key {strange[0]}")
    columns = [np.array(table[name], float) for name in COLUMNS]
    if len({len(column) for column in columns}) != 1 or len(columns[0]) < 2:
        raise ValueError("the steering map's columns are not equally long, or shorter than two")
    if not all(np.isfinite(column).all() for column in columns):
        raise ValueError("the steering map has a number that is not finite")
    if not (np.all(np.diff(columns[0]) > 0) and np.all(np.diff(columns[1]) > 0)):
        raise ValueError("the steering map does not rise")
    commanded, wheel, low, high = columns
    return SteeringMap(
        commanded, wheel, low, high, finite(table["residual_radps"]), bool(table["is_bent"])
    )
