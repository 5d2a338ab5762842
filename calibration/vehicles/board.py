"""A calibrated vehicle as a vehicle file and for its board, checked before it is written."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Protocol

from calibration.files.calibration import Calibration
from calibration.files.calibration_file import calibration_of
from calibration.vehicles.fit_for_board import as_from_logs
from calibration.vehicles.vehicle_file import vehicle_file_text
from host_bridge.core import Vehicle
from host_bridge.core.errors import VehicleFileFault

_LOWER = 0.99  # of the steering's range: from try to try
_TRIES = 120  # 0.99 ** 120: down to three tenths of full lock


class VehicleTypes(Protocol):
    """The known types of car, and their files."""

    def names(self) -> Sequence[str]: ...
    def load(self, name: str) -> Vehicle: ...


def calibrated_vehicle(
    vehicle: Vehicle, calibration: Calibration, vehicles: VehicleTypes
) -> tuple[str, Vehicle]:
    """Return the text of the calibrated vehicle file, and the vehicle that it loads as.

    If the servos' range does not reach full lock with the found steering map, full lock is lowered
    until it does. Raises errors.VehicleFileFault for numbers that no vehicle file may have.
    """
    base = vehicle.path
    if vehicle.name in vehicles.names() and vehicles.load(vehicle.name).path == base:
        base = vehicle.name
    with TemporaryDirectory() as folder:
        path = Path(folder, f"{vehicle.name}.toml")
        lock_rad: float | None = None
        for _ in range(_TRIES):
            text = vehicle_file_text(vehicle, calibration, base, lock_rad)
            path.write_text(text, encoding="utf-8")
            try:
                return text, vehicles.load(str(path))
            except VehicleFileFault as fault:
                if "of steering" not in fault.what:
                    raise
                lock_rad = _LOWER * (lock_rad or vehicle.steer_max_rad)
    raise VehicleFileFault(
        "its servos turn its wheels less than three tenths of full lock",
        where=vehicle.name,
        expected="a steering map that the servos' range holds",
        got=f"{lock_rad or 0.0:.3f} rad",
        remedy="is the steering linkage whole? drive to larger angles, and calibrate again",
    )


def calibrated_board(vehicle: Vehicle, file: str, vehicles: VehicleTypes) -> Vehicle:
    """Return the calibrated vehicle, whose parameters belong on the vehicle's board.

    ``file`` was written by tandem calibrate or tandem replay --fit, or is ``own``. Raises
    errors.VehicleFileFault.
    """
    calibration = calibration_of(vehicle.name, file)
    return calibrated_vehicle(vehicle, as_from_logs(vehicle, calibration), vehicles)[1]
