"""The vehicles of the AutoDRIVE Simulator: how shares turn into speeds and angles there."""

from __future__ import annotations

from dataclasses import dataclass

from sim_mock.models.autodrive.cars import F1TENTH, HUNTER_SE, NIGEL
from sim_mock.models.autodrive.parameters import Car


@dataclass(frozen=True, slots=True)
class SimulatedCar:
    """``top_mps`` at throttle 1, ``steer_max_rad`` at steering 1."""

    steer_max_rad: float
    top_mps: float
    wheelbase_m: float
    wheel_radius_m: float
    ticks_per_turn: float = 1920.0  # 16 per motor turn * 120, of Nigel and RoboRacer


def _of(car: Car) -> SimulatedCar:
    wheelbase_m = car.lf_m + car.lr_m
    return SimulatedCar(car.steer_max_rad, car.speed_max_mps, wheelbase_m, car.wheel_radius_m)


_ROBORACER = _of(F1TENTH)

# AW: AutoDRIVE's Autoware packages. "estimate": no source was found; the drive's loop takes it up.
CARS: dict[str, SimulatedCar] = {
    "nigel": _of(NIGEL),
    "f1tenth": _ROBORACER,  # to November 2025: sends Speed
    "roboracer": _ROBORACER,  # from March 2026: sends Linear Velocity
    "hunter_se": _of(HUNTER_SE),  # newer scenes take speeds, older ones shares
    "opencav": SimulatedCar(
        steer_max_rad=0.6,  # estimate
        top_mps=40.0,  # estimate
        wheelbase_m=3.09,  # AW
        wheel_radius_m=0.34,  # estimate
    ),
    "rzr": SimulatedCar(
        steer_max_rad=0.6,  # estimate
        top_mps=30.0,  # estimate
        wheelbase_m=2.9,  # estimate
        wheel_radius_m=0.37,  # estimate
    ),
}


def simulated_car(name: str) -> SimulatedCar:
    """Raises ValueError for a vehicle that the simulator does not have."""
    if name not in CARS:
        known = ", ".join(CARS)
        raise ValueError(f"the AutoDRIVE Simulator has no {name!r}; car= is one of {known}")
    return CARS[name]
