"""AutoDRIVE's small and mid-scale cars on a car's outputs, as its simulator has them.

Motor, holding torque, drag and steering are the model's: it is told shares of throttle and
steering, and an ESC's coasting is braking, since throttle 0 holds the wheels.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sim_mock.autodrive.actuators import throttle_per_effort
from sim_mock.bodies.rolling import carried, slides
from sim_mock.models.autodrive.car import Sprung, sprung_rates
from sim_mock.models.autodrive.parameters import Car, Input
from sim_mock.models.integration import State

if TYPE_CHECKING:
    from sim_mock.plant.body import BodyState
    from sim_mock.plant.model import Acts
    from sim_mock.plant.parameters import PlantParameters

_SPINS = slice(6, 10)


class AutoDriveBody:
    """``state`` is the model's, a ``Sprung``."""

    def __init__(self, parameters: PlantParameters, car: Car) -> None:
        self._car = car
        self._throttle_per_effort = throttle_per_effort(parameters, car.speed_max_mps)
        self.state: State = Sprung()
        self.rim_mps = 0.0
        self.is_sliding = False

    def move(self, dt_s: float, acts: Acts, truth: BodyState) -> None:
        car = self._car
        u = Input(acts.duty * self._throttle_per_effort, acts.front_rad / car.steer_max_rad)
        new = self.state = carried(sprung_rates, self.state, u, car, dt_s, truth)
        self.rim_mps = 0.25 * sum(new[_SPINS]) * car.wheel_radius_m
        self.is_sliding = slides(self.rim_mps, truth.vx_mps)
