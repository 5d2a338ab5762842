"""The application of a calibration to a vehicle's virtual car: ``sim://nigel?calibration=own``.

A fit cannot separate battery from motor, nor rotor from gear, as a log has only one throttle. It
therefore explains the top speed by the battery and the lag by the rotating mass. The virtual car
that is driven keeps the battery of its vehicle file, because its program monitors the voltage; its
motors are made as slow on that battery. Queue, delay and mounting belong to the log and to whoever
measured, not to the car: they change nothing here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from calibration.files.calibration_file import calibration_of
from calibration.simulation.plant_numbers import Values, plant_parameters
from calibration.simulation.steering_model import remapped_curve
from calibration.simulation.tuned_plant import fit_plant_changes
from calibration.vehicles import identified_car
from calibration.vehicles.identified_car import CalibratableVehicle


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
    calibration = calibration_of(vehicle.name, file)
    if calibration.fit is None:
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
