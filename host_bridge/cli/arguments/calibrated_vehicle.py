"""Makes a calibrated vehicle from a calibration of logs, and checks it before it is written."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from calibration.files import fit_file as results
from calibration.files.fit_as_log import of_fit
from calibration.files.log_file import REMEDY, LogCalibration, is_of_logs, read
from calibration.vehicles.vehicle_lines import vehicle_lines
from calibration.vehicles.virtual_car import OWN
from host_bridge.config.store import Host
from host_bridge.core import Vehicle
from host_bridge.core.errors import VehicleFileFault

NONE = "none"
_LOWER = 0.99
CHANNELS = 8
_TRIES = 120  # 0.99 ** 120: down to three tenths of full lock


def calibrated_vehicle(
    vehicle: Vehicle, calibration: LogCalibration, host: Host
) -> tuple[str, Vehicle]:
    """Return the text of the calibrated vehicle file, and the vehicle that it loads as.

    If the servos' range does not reach full lock with the found steering map, full lock is lowered
    until it does. Raises errors.VehicleFileFault for numbers that no vehicle file may have.
    """
    base = vehicle.path
    if vehicle.name in host.vehicles.names() and host.vehicles.load(vehicle.name).path == base:
        base = vehicle.name
    with TemporaryDirectory() as folder:
        path = Path(folder, f"{vehicle.name}.toml")
        lock_rad: float | None = None
        for _ in range(_TRIES):
            text = vehicle_lines(vehicle, calibration, base, lock_rad)
            path.write_text(text, encoding="utf-8")
            try:
                return text, host.vehicles.load(str(path))
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


def board_half(vehicle: Vehicle, file: str, host: Host) -> Vehicle:
    """Return the vehicle with the parameters that a calibration puts on its board.

    ``file`` was written by tandem calibrate or tandem replay --fit, or is ``own``. Raises
    errors.VehicleFileFault.
    """
    path = results.found(vehicle.name) if file == OWN else Path(file)
    if path is None:
        raise VehicleFileFault(
            f"Tandem brings no calibration along for {vehicle.name}",
            where=OWN,
            expected="the path of a file",
            remedy=REMEDY,
        )
    is_fit = path.is_file() and not is_of_logs(path)
    calibration = of_fit(vehicle, results.read(path)) if is_fit else read(path)
    if calibration.vehicle != vehicle.name:
        raise VehicleFileFault(
            "this is another vehicle's calibration",
            where=file,
            expected=vehicle.name,
            got=calibration.vehicle,
            remedy="name the vehicle that it is of",
        )
    _, found = calibrated_vehicle(vehicle, calibration, host)
    return replace(vehicle, parameters=found.parameters)


def changes_on_board(file: Vehicle, calibrated: Vehicle) -> list[dict[str, object]]:
    """Return the parameters that differ, as rows; of per-channel ones only the channels that do."""
    rows: list[dict[str, object]] = []
    for name, values in calibrated.parameters.items():
        before = file.parameters[name]
        if values == before:
            continue
        size = max(len(values) // CHANNELS, 1) if name.startswith("channel_") else len(values)
        for at in range(0, len(values), size):
            now, was = values[at : at + size], before[at : at + size]
            if now != was:
                label = f"{name} {at // size}" if len(values) > size else name
                rows.append({"parameter": label, "calibrated": now, "file": was})
    return rows
