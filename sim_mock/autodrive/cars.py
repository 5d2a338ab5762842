"""The vehicles of the AutoDRIVE Simulator, with their conversion of shares to speeds and angles."""

from __future__ import annotations

from dataclasses import dataclass
from math import copysign

from sim_mock.models.autodrive.automobiles import OPENCAV, RZR
from sim_mock.models.autodrive.cars import F1TENTH, HUNTER_SE, NIGEL
from sim_mock.models.autodrive.parameters import AutomobileParameters, ChassisParameters


@dataclass(frozen=True, slots=True)
class SimulatedCar:
    """A vehicle of the simulator: ``top_mps`` at throttle 1, ``steer_max_rad`` at steering 1.

    ``has_pedals``: throttle is an engine's, and there is a brake. ``fading``: by how much less a
    share of throttle is worth at full throttle than at none.
    """

    steer_max_rad: float
    top_mps: float
    wheelbase_m: float
    wheel_radius_m: float
    has_pedals: bool
    ticks_per_turn: float = 1920.0  # 16 per motor turn * 120, of Nigel and RoboRacer
    fading: float = 0.0

    def speed_mps(self, throttle: float) -> float:
        """Return the steady speed at this throttle, which is clamped to 1."""
        size = min(abs(throttle), 1.0)
        return copysign(self.top_mps * size / (1.0 - self.fading * (1.0 - size)), throttle)

    def throttle(self, speed_mps: float) -> float:
        """Return the throttle, -1 to 1, for this steady speed; full beyond the top speed."""
        size = min(abs(speed_mps), self.top_mps)
        share = size * (1.0 - self.fading) / (self.top_mps - self.fading * size)
        return copysign(share, speed_mps)


def _simulated_car(car: ChassisParameters, fading: float = 0.0) -> SimulatedCar:
    """Return the limits and sizes of one of the simulator's cars; ``fading`` is a share, 0 to 1."""
    return SimulatedCar(
        car.steer_max_rad,
        car.speed_max_mps,
        car.wheelbase_m,
        car.wheel_radius_m,
        isinstance(car, AutomobileParameters),
        fading=fading,
    )


_ROBORACER = _simulated_car(F1TENTH)

CARS: dict[str, SimulatedCar] = {
    # fading: 0.2856 s/m over 1 / 0.267 s/m, of the dataset in models/autodrive/cars.py (to 0.1 %)
    "nigel": _simulated_car(NIGEL, fading=0.0763),
    "f1tenth": _ROBORACER,  # to November 2025: sends Speed
    "roboracer": _ROBORACER,  # from March 2026: sends Linear Velocity
    "hunter_se": _simulated_car(HUNTER_SE),  # newer scenes take speeds, older ones shares
    "opencav": _simulated_car(OPENCAV),
    "rzr": _simulated_car(RZR),
}


def simulated_car(name: str) -> SimulatedCar:
    """Return a vehicle's data. Raises ValueError if the simulator does not have it."""
    if name not in CARS:
        known = ", ".join(CARS)
        raise ValueError(f"the AutoDRIVE Simulator has no {name!r}; car= is one of {known}")
    return CARS[name]
