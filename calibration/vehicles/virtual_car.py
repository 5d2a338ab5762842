"""The application of a calibration to a vehicle's virtual car: ``sim://nigel?calibration=own``.

A fit cannot separate battery from motor, nor rotor from gear, as a log has only one throttle. It
therefore explains the top speed by the battery and the lag by the rotating mass. The virtual car
that is driven keeps the battery of its vehicle file, because its program monitors the voltage; its
motors are made as slow on that battery. Queue, delay and mounting belong to the log and to whoever
measured, not to the car: they change nothing here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from calibration.files import log_file
from calibration.files.fit_file import REMEDY, read_fit_file, shipped_fit_file
from calibration.simulation.plant_numbers import Values, plant_parameters
from calibration.simulation.steering_model import remapped_curve
from calibration.simulation.tuned_plant import fit_plant_changes
from calibration.vehicles import identified_car
from calibration.vehicles.identified_car import CalibratableVehicle
from host_bridge.core.errors import VehicleFileFault

OWN = "own"  # the calibration that Tandem ships for this type of car


class CalibratedVehicle(NamedTuple):
    """A vehicle whose plant and channels are calibrated; its program's parameters stay its own."""

    name: str
    plant: Mapping[str, Any]
    channels: Sequence[Mapping[str, Any]]
    parameters: Mapping[str, Sequence[int]]


def calibrated(vehicle: CalibratableVehicle, file: str) -> CalibratedVehicle:
    """Return the vehicle with the values of a calibration file, or of its ``own`` calibration.

    Raises errors.VehicleFileFault where there is none, or where it is another vehicle's.
    """
    path = shipped_fit_file(vehicle.name) if file == OWN else Path(file)
    if path is None:
        raise VehicleFileFault(
            f"Tandem brings no calibration along for {vehicle.name}",
            where=f"calibration={OWN}",
            expected="the path of a file",
            remedy=REMEDY,
        )
    of_logs = log_file.is_log_calibration(path)
    calibration = log_file.read_log_file(path) if of_logs else read_fit_file(path)
    if calibration.vehicle != vehicle.name:
        raise VehicleFileFault(
            "this is another vehicle's calibration",
            where=str(path),
            expected=vehicle.name,
            got=calibration.vehicle,
            remedy="leave it out, or name the vehicle that it is of",
        )
    if isinstance(calibration, log_file.LogCalibration):
        plant, channels = identified_car.plant_and_channels(vehicle, calibration)
        return CalibratedVehicle(vehicle.name, plant, channels, vehicle.parameters)
    return fitted_vehicle(vehicle, calibration.values)


def fitted_vehicle(vehicle: CalibratableVehicle, values: Values) -> CalibratedVehicle:
    """Return the vehicle with these fitted values in its plant and its steering curves."""
    changes = identified_car.scaled_to_battery(
        vehicle.plant, fit_plant_changes(plant_parameters(vehicle), values)
    )
    plant = {**vehicle.plant, **{k: {**vehicle.plant[k], **v} for k, v in changes.items()}}
    steer_max_rad = vehicle.parameters["steer_max_urad"][0] * 1e-6
    channels = [_remapped(one, steer_max_rad, values) for one in vehicle.channels]
    return CalibratedVehicle(vehicle.name, plant, channels, vehicle.parameters)


def _remapped(
    channel: Mapping[str, Any], steer_max_rad: float, values: Values
) -> Mapping[str, Any]:
    if channel["kind"] != "servo_steering":
        return channel
    return {**channel, "curve": remapped_curve(channel["curve"], steer_max_rad, values)}
