"""Reader of a calibration's file, whichever method wrote it; and where Tandem's own lie."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from calibration.bayesian_fit.estimates import Fit, LackOfFit
from calibration.bayesian_fit.parameters import FIT_PARAMETER_NAMES
from calibration.bayesian_fit.variance_priors import DIFFERING, SCALES
from calibration.files.calibration import Calibration
from calibration.files.calibration_text import FIT, LOGS
from calibration.files.source import sources_of
from calibration.parameters import (
    BY_NAME,
    LOG_PARAMETER_NAMES,
    OLD_NAMES,
    Estimate,
    not_identifiable,
)
from calibration.regression.steering_map import COLUMNS, SteeringMap
from host_bridge.core.errors import VehicleFileFault
from host_bridge.core.files import finite, misread_text, read_toml
from host_bridge.core.files.packaged_files import CALIBRATIONS, packaged_file

OWN = "own"  # the calibration that Tandem ships for this type of car
FOLDER = Path(__file__).parents[1] / "results"
_REACH_RAD = 0.3  # either side of the trim; a map goes on straight beyond its ends
# method -> its parameters, what a file is not that cannot be read, how one is written
_METHODS = {
    FIT: (FIT_PARAMETER_NAMES, "no calibration", "write one with tandem replay --fit"),
    LOGS: (
        LOG_PARAMETER_NAMES,
        "no calibration out of logs",
        "write one with tandem calibrate LOG --out FILE.toml",
    ),
}
_REMEDY = ", or ".join(remedy for _, _, remedy in _METHODS.values())


def calibration_of(vehicle: str, file: str) -> Calibration:
    """Return the calibration in a file, or with ``own`` the one that Tandem ships for the vehicle.

    Raises errors.VehicleFileFault where there is none, or where it is another vehicle's.
    """
    path = shipped_calibration(vehicle) if file == OWN else Path(file)
    if path is None:
        raise VehicleFileFault(
            f"Tandem brings no calibration along for {vehicle}",
            where=f"calibration={OWN}",
            expected="the path of a file",
            remedy=_REMEDY,
        )
    found = read_calibration(path)
    if found.vehicle != vehicle:
        raise VehicleFileFault(
            "this is another vehicle's calibration",
            where=str(path),
            expected=vehicle,
            got=found.vehicle,
            remedy="leave it out, or name the vehicle that it is of: --vehicle",
        )
    return found


def shipped_calibration(vehicle: str) -> Path | None:
    """Return the calibration that Tandem, or another package, ships for a type of car, if any."""
    path = FOLDER / f"{vehicle}.toml"
    return path if path.exists() else packaged_file(CALIBRATIONS, vehicle)


def read_calibration(path: Path) -> Calibration:
    """Read a calibration's file. Raises errors.VehicleFileFault for a file that is not one."""
    document = read_toml(path, VehicleFileFault).values
    # files of fits did not name their method until 0.2.0
    method = str(document.pop("method", FIT))
    if method not in _METHODS:
        raise VehicleFileFault(
            "no calibration of a known method",
            where=f"{path}, method",
            expected=" or ".join(_METHODS),
            got=method,
            remedy=_REMEDY,
        )
    names, none_such, remedy = _METHODS[method]
    try:
        return _read(names, document)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        what = f"{none_such}: {misread_text(error)}"
        raise VehicleFileFault(what, where=str(path), remedy=remedy) from None


def _read(names: Sequence[str], document: dict[str, Any]) -> Calibration:
    rows = {OLD_NAMES.get(name, name): row for name, row in document.pop("parameters").items()}
    _refuse_unknown("parameter", rows, names)
    estimates = tuple(_estimate(name, rows.get(name)) for name in names)
    data = tuple(one for row in document.pop("data", []) for one in sources_of(row))
    fit = _fit(estimates, document) if names is FIT_PARAMETER_NAMES else None
    table = document.pop("steering_map", None)
    steering_map = _map(table) if table else _straight_map(estimates)
    return Calibration(
        **document, data=data, estimates=estimates, steering_map=steering_map, fit=fit
    )


def _refuse_unknown(what: str, rows: Mapping[str, Any], known: Sequence[str]) -> None:
    if unknown := [name for name in rows if name not in known]:
        raise ValueError(f"there is no {what} {unknown[0]}; known are {', '.join(known)}")


def _estimate(name: str, row: Mapping[str, Any] | None) -> Estimate:
    if row is None:
        return not_identifiable(name, "it is not in the file")
    if "value" not in row:
        return not_identifiable(name, str(row["untold"]))
    value, low, high = (finite(row[key]) for key in ("value", "low", "high"))
    p = BY_NAME[name]
    if not p.low <= value <= p.high:
        raise ValueError(f"{name} is {value:g}, expected {p.low:g} to {p.high:g}")
    known = finite(row["known"]) if "known" in row else None
    is_fitted = bool(row.get("is_fitted", True))
    return Estimate(name, value, low, high, str(row.get("why", "")), known, is_fitted)


def _fit(estimates: tuple[Estimate, ...], document: dict[str, Any]) -> Fit:
    if lacking := [one.name for one in estimates if not one.is_estimated]:
        raise ValueError(f"it lacks {lacking[0]}, and a fit has all of its parameters")
    scales = document.pop("scales")
    _refuse_unknown("scale", scales, [one.name for one in SCALES])
    scales = {**dict.fromkeys(DIFFERING.values(), 0.0), **scales}  # files of before lack these
    covariance = np.array(document.pop("covariance")["rows"], float)
    if covariance.shape != (len(estimates), len(estimates)):
        raise ValueError(f"covariance of shape {covariance.shape}")
    if not np.isfinite(covariance).all():
        raise ValueError("covariance with a number that is not finite")
    low, high = map(finite, document.pop("steering"))
    return Fit(
        estimates,
        covariance,
        np.array([finite(scales[one.name]) for one in SCALES]),
        LackOfFit(**document.pop("lack_of_fit")),
        finite(document.pop("band")["stretch"]),
        steering=(low, high),
    )


def _straight_map(estimates: Sequence[Estimate]) -> SteeringMap | None:
    """Return the map of a file that has a trim and gains but no map, so that they are applied.

    A gain that is not told is 1. Returns None without any of them; raises ValueError for gains
    without a trim, which say nothing of where the wheels stand.
    """
    estimated = {one.name: one for one in estimates if one.is_estimated}
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
    _refuse_unknown("key of a steering map", table, (*COLUMNS, "residual_radps", "is_bent"))
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
