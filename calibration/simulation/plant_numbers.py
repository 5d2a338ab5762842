"""Numbers that describe a vehicle's plant as a whole: steady speed, time constant, friction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol, TypeAlias

from sim_mock.plant.body import GRAVITY_MPS2
from sim_mock.plant.parameters import PlantParameters

Values: TypeAlias = Mapping[str, float]


class HasPlant(Protocol):
    """The properties of a vehicle that describe its virtual car."""

    @property
    def plant(self) -> Mapping[str, Any]: ...
    @property
    def channels(self) -> Sequence[Mapping[str, Any]]: ...


def plant_parameters(vehicle: HasPlant) -> PlantParameters:
    """Return the parameters of the vehicle's plant. Raises as ``PlantParameters.from_mapping``."""
    return PlantParameters.from_mapping({**vehicle.plant, "channels": list(vehicle.channels)})


def damping_n_per_mps(p: PlantParameters) -> float:
    """Return the damping in N s/m of all motors at full duty, at the rim: n (k turns)^2 / R.

    See sim_mock.plant.motor.
    """
    return p.motor.count * emf_vs_per_m(p) ** 2 / _total_ohm(p)


def speed_lag_s(p: PlantParameters) -> float:
    """Return the time constant of the speed in s: the mass to be set in motion over its damping."""
    return (p.body.mass_kg + p.drive.rotating_mass_kg) / damping_n_per_mps(p)


def steady_speed_mps(p: PlantParameters) -> float:
    """Return the speed in m/s at which full duty balances friction and damping (without air)."""
    emf_v = p.battery.emf_v - p.battery.resistance_ohm * p.battery.idle_a
    return emf_v / emf_vs_per_m(p) - friction_n(p) / damping_n_per_mps(p)


def battery_emf_v(p: PlantParameters, speed_mps: float) -> float:
    """Return the battery's emf in V at which ``steady_speed_mps`` is this speed."""
    emf_v = (speed_mps + friction_n(p) / damping_n_per_mps(p)) * emf_vs_per_m(p)
    return emf_v + p.battery.resistance_ohm * p.battery.idle_a


def friction_n(p: PlantParameters) -> float:
    """Return the dry friction of gears and tyres at the rim, in N."""
    return p.drive.friction_n + p.drive.rolling_resistance * p.body.mass_kg * GRAVITY_MPS2


def emf_vs_per_m(p: PlantParameters) -> float:
    """Return the motor's back-emf per speed at the rim, in V s/m."""
    return p.motor.emf_vs_per_rad * p.drive.turns_rad_per_m


def _total_ohm(p: PlantParameters) -> float:
    return p.motor.resistance_ohm + p.motor.count * p.battery.resistance_ohm
