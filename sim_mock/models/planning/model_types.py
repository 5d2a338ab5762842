"""The values of ``vehicle_model_type`` and their cars, or the reason why a scaled car has none."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from sim_mock.models.planning.acceleration_map import read_acceleration_map
from sim_mock.models.planning.car import ModelledCar, SteeringModel
from sim_mock.models.planning.drive import (
    DelayedAcceleration,
    DelayedVelocity,
    DriveModel,
    IdealAcceleration,
    IdealVelocity,
    MappedAcceleration,
)
from sim_mock.models.planning.learned import LearnedCar, learned_car
from sim_mock.models.planning.parameters import DelayParameters, text
from sim_mock.models.planning.pedalled_car import PedalledCar
from sim_mock.models.planning.steering import DelayedSteering, IdealSteering, LockedSteering

LEARNED = "LEARNED_STEER_VEL"
PEDALLED = "DELAY_STEER_ACC_GEARED_WO_FALL_GUARD"
Given = Mapping[str, Any]


class Parts(NamedTuple):
    """The parts of which a model is composed."""

    steering: Callable[[DelayParameters, float], SteeringModel]
    drive: Callable[[DelayParameters, float, Given], DriveModel]
    is_geared: bool


def _ideal_steering(p: DelayParameters, dt_s: float) -> SteeringModel:
    return IdealSteering()


def _ideal_velocity(p: DelayParameters, dt_s: float, given: Given) -> DriveModel:
    return IdealVelocity()


def _velocity(p: DelayParameters, dt_s: float, given: Given) -> DriveModel:
    return DelayedVelocity(p, dt_s)


def _ideal_acceleration(p: DelayParameters, dt_s: float, given: Given) -> DriveModel:
    return IdealAcceleration()


def _acceleration(p: DelayParameters, dt_s: float, given: Given) -> DriveModel:
    return DelayedAcceleration(p, dt_s)


def _mapped(p: DelayParameters, dt_s: float, given: Given) -> DriveModel:
    table = read_acceleration_map(Path(text("acceleration_map_path", given)))
    return MappedAcceleration(p, dt_s, table)


MODEL_TYPES: dict[str, Parts] = {
    "IDEAL_STEER_VEL": Parts(_ideal_steering, _ideal_velocity, False),
    "IDEAL_STEER_ACC": Parts(_ideal_steering, _ideal_acceleration, False),
    "IDEAL_STEER_ACC_GEARED": Parts(_ideal_steering, _ideal_acceleration, True),
    "DELAY_STEER_VEL": Parts(LockedSteering, _velocity, False),
    "DELAY_STEER_ACC": Parts(DelayedSteering, _acceleration, False),
    "DELAY_STEER_ACC_GEARED": Parts(DelayedSteering, _acceleration, True),
    "DELAY_STEER_MAP_ACC_GEARED": Parts(DelayedSteering, _mapped, True),
}


ALL = (*MODEL_TYPES, PEDALLED, LEARNED)
_PEDALS = (
    "takes the pedals of a passenger car, which raw_vehicle_cmd_converter makes with an accel_map "
    "and a brake_map that were measured on one"
)
# Autoware's other types, and why they do not apply to a car with a motor and a servo.
NOT_HERE: dict[str, str] = {
    "ACTUATION_CMD": f"{_PEDALS}; DELAY_STEER_MAP_ACC_GEARED takes an acceleration and a map",
    "ACTUATION_CMD_STEER_MAP": f"{_PEDALS}, and the voltage of a power steering",
    "ACTUATION_CMD_VGR": f"{_PEDALS}, and the angle of a steering wheel with a variable gear",
    "ACTUATION_CMD_MECHANICAL": f"{_PEDALS}, and the torque at a steering column",
}


def make_car(
    vehicle_model_type: str, given: Given, wheelbase_m: float, dt_s: float
) -> ModelledCar | LearnedCar | PedalledCar:
    """Return the car of that type, at rest at the origin; dead times become steps of ``dt_s``.

    ``given`` has Autoware's parameter names and units (``parameters.NUMBERS``). Raises ValueError
    where the type or a parameter is unknown or out of range.
    """
    if not (wheelbase_m > 0.0 and dt_s > 0.0):
        raise ValueError(f"wheelbase and step: expected both above 0, got {wheelbase_m}, {dt_s}")
    refuse_unknown(vehicle_model_type)
    parameters = DelayParameters.from_mapping(vehicle_model_type, given)
    if vehicle_model_type == LEARNED:
        return learned_car(given, dt_s)
    if vehicle_model_type == PEDALLED:
        steering = DelayedSteering(parameters, dt_s)
        return PedalledCar(DelayedAcceleration(parameters, dt_s), steering, wheelbase_m)
    parts = MODEL_TYPES[vehicle_model_type]
    drive = parts.drive(parameters, dt_s, given)
    return ModelledCar(drive, parts.steering(parameters, dt_s), parts.is_geared, wheelbase_m)


def refuse_unknown(vehicle_model_type: object) -> None:
    """Raise ValueError for a type that is not here, with the reason where Autoware has it."""
    if vehicle_model_type in ALL:
        return
    why = NOT_HERE.get(str(vehicle_model_type))
    told = f" is not here: it {why}" if why else ""
    names = ", ".join(ALL)
    raise ValueError(f"vehicle_model_type: expected one of {names}; got {vehicle_model_type}{told}")
