"""The calibration of a car, whichever method found it: read from its file, or from Tandem's own."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from calibration.files import fit_file, log_file
from calibration.files.fit_file import FitCalibration, read_fit, shipped_fit_file
from calibration.files.log_file import LogCalibration, read_logs
from host_bridge.core.errors import VehicleFileFault
from host_bridge.core.files import read_toml

OWN = "own"  # the calibration that Tandem ships for this type of car
_READERS: dict[str, Callable[[Path, dict[str, Any]], FitCalibration | LogCalibration]] = {
    fit_file.METHOD: read_fit,
    log_file.METHOD: read_logs,
}


def read_calibration(path: Path) -> FitCalibration | LogCalibration:
    """Read a calibration's file. Raises errors.VehicleFileFault for a file that is not one."""
    document = read_toml(path, VehicleFileFault).values
    # files of fits did not name their method until 0.2.0
    method = str(document.pop("method", fit_file.METHOD))
    if method not in _READERS:
        raise VehicleFileFault(
            "no calibration of a known method",
            where=f"{path}, method",
            expected=" or ".join(_READERS),
            got=method,
            remedy=f"{fit_file.REMEDY}, or {log_file.REMEDY}",
        )
    return _READERS[method](path, document)


def calibration_of(vehicle: str, file: str) -> FitCalibration | LogCalibration:
    """Return the calibration in a file, or with ``own`` the one that Tandem ships for the vehicle.

    Raises errors.VehicleFileFault where there is none, or where it is another vehicle's.
    """
    path = shipped_fit_file(vehicle) if file == OWN else Path(file)
    if path is None:
        raise VehicleFileFault(
            f"Tandem brings no calibration along for {vehicle}",
            where=f"calibration={OWN}",
            expected="the path of a file",
            remedy=f"{fit_file.REMEDY}, or {log_file.REMEDY}",
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
