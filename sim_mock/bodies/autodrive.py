"""AutoDRIVE's car models as bodies of a virtual car, with the same interface as its simulator.

Motor, holding torque, drag and steering are the model's: it takes shares of throttle and steering,
and an ESC's coasting is braking, since throttle 0 holds the wheels. A full-scale car takes pedals:
effort is throttle, the motors' braking is the brake, and where nothing drives the brake is applied.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sim_mock.autodrive.actuators import top_mps
from sim_mock.bodies.rolling import integrated, is_sliding_at
from sim_mock.models.autodrive.automobile import at_rest, step
from sim_mock.models.autodrive.car import Sprung, sprung_rates
from sim_mock.models.autodrive.gearbox import STILL_MPS
from sim_mock.models.autodrive.parameters import (
    AutomobileParameters,
    CarParameters,
    NormalisedInput,
    Pedals,
)
from sim_mock.models.autodrive.powertrain import brake_nm
from sim_mock.models.integration import State
from sim_mock.plant.motor import Motor

if TYPE_CHECKING:
    from sim_mock.autodrive.cars import SimulatedCar
    from sim_mock.plant.body import BodyState
    from sim_mock.plant.model import Actuation
    from sim_mock.plant.parameters import PlantParameters


class AutoDriveBody:
    """A small or mid-scale car; ``state`` is the model's, a ``Sprung``."""

    def __init__(
        self, parameters: PlantParameters, car: CarParameters, simulated: SimulatedCar
    ) -> None:
        self._car, self._simulated = car, simulated
        self._top_mps = top_mps(parameters)
        self.state: State = Sprung()
        self.rim_mps = 0.0
        self.is_sliding = False

    def move(self, dt_s: float, acts: Actuation, truth: BodyState) -> None:
        car = self._car
        throttle = self._simulated.throttle(acts.duty * self._top_mps)
        u = NormalisedInput(throttle, acts.front_rad / car.steer_max_rad)
        new = self.state = integrated(sprung_rates, self.state, u, car, dt_s, truth)
        self.rim_mps = 0.25 * sum(new[6:10]) * car.wheel_radius_m  # the mean of four wheels
        self.is_sliding = is_sliding_at(self.rim_mps, truth.vx_mps)


class AutomobileBody:
    """A full-scale car; ``state`` is the model's, a ``Driven``."""

    def __init__(self, parameters: PlantParameters, car: AutomobileParameters) -> None:
        p = parameters
        self._car = car
        wheels_nm = [brake_nm(at.sprung_kg, car) for at in car.corners]
        self._brakes_n = sum(wheels_nm) / car.wheel_radius_m
        motor = Motor(p.motor, p.battery, p.drive.turns_rad_per_m)
        motor.brake(1.0, 0.0)
        self._damping_n_per_mps = motor.damping_n_per_mps
        self.state = at_rest(car)
        self.rim_mps = 0.0
        self.is_sliding = False

    def move(self, dt_s: float, acts: Actuation, truth: BodyState) -> None:
        car, old = self._car, self.state
        now = old._replace(body=Sprung(*truth.values(), *old.body[len(truth.values()) :]))
        is_against = acts.duty * self.rim_mps < 0.0 and abs(self.rim_mps) > STILL_MPS
        throttle = 0.0 if is_against else acts.duty  # its gearbox would ignore it
        brake = min(abs(acts.duty), 1.0) if is_against else self._brake(acts)
        u = Pedals(throttle, acts.front_rad / car.steer_max_rad, brake, brake)
        self.state = step(now, u, car, dt_s)
        body = self.state.body
        truth.assign(body[:6])
        self.rim_mps = 0.25 * sum(body[6:10]) * car.wheel_radius_m  # the mean of four wheels
        self.is_sliding = is_sliding_at(self.rim_mps, truth.vx_mps)

    def _brake(self, acts: Actuation) -> float:
        """Return the brake pedal, from 0 to 1.

        It is as hard as the motors would brake; at low speed, where these fade, by the pulse; full
        where they coast.
        """
        if acts.duty != 0.0:
            return 0.0
        braked_n = abs(acts.pushes_n(self.rim_mps))
        pulled = max(braked_n / self._brakes_n, acts.damping_n_per_mps / self._damping_n_per_mps)
        return min(pulled, 1.0) if pulled > 0.0 else 1.0
