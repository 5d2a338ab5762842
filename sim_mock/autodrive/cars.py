"""The vehicles of the AutoDRIVE Simulator: how shares turn into speeds and angles there."""

from __future__ import annotations

from dataclasses import dataclass

from sim_mock.models.autodrive.automobiles import OPENCAV, RZR
from sim_mock.models.autodrive.cars import F1TENTH, HUNTER_SE, NIGEL
from sim_mock.models.autodrive.parameters import Automobile, Chassis


@dataclass(frozen=True, slots=True)
class SimulatedCar:
    """``top_mps`` at throttle 1, ``steer_max_rad`` at steering 1; ``has_pedals``: throttle is an
    engine's, and there is a brake."""

    steer_max_rad: float
    top_mps: float
    wheelbase_m: float
    wheel_radius_m: float
    has_pedals: bool
    ticks_per_turn: float = 1920.0  # 16 per motor turn * 120, of Nigel and RoboRacer


def _of(car: Chassis) -> SimulatedCar:
    return SimulatedCar(
        car.steer_max_rad,
        car.speed_max_mps,
        car.wheelbase_m,
        car.wheel_radius_m,
        isinstance(car, Automobile),
    )


_ROBORACER = _of(F1TENTH)

CARS: dict[str, SimulatedCar] = {
    "nigel": _of(NIGEL),
    "f1tenth": _ROBORACER,  # to November 2025: sends Speed
    "roboracer": _ROBORACER,  # from March 2026: sends Linear Velocity
    "hunter_se": _of(HUNTER_SE),  # newer scenes take speeds, older ones shares
    "opencav": _of(OPENCAV),
    "rzr": _of(RZR),
}


def simulated_car(name: str) -> SimulatedCar:
    """Raises ValueError for a vehicle that the simulator does not have."""
    if name not in CARS:
        known = ", ".join(CARS)
        raise ValueError(f"the AutoDRIVE Simulator has no {name!r}; car= is one of {known}")
    return CARS[name]
