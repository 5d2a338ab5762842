"""The vehicle models of Autoware's planning simulator as bodies of a virtual car.

A velocity model takes the speed to which the motors' share of their voltage would lead, 0 where
they coast or brake; an acceleration model takes the acceleration by motors, brake and friction. The
gear is the direction in which the motors began to drive from standstill.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import cos, sin
from typing import TYPE_CHECKING, Any

from sim_mock.autodrive.actuators import top_mps
from sim_mock.bodies.rolling import LongitudinalDrive, rear_axle_position
from sim_mock.models.integration import State
from sim_mock.models.planning.gear import DRIVE, REVERSE
from sim_mock.models.planning.model_types import PEDALLED, make_car
from sim_mock.models.planning.motion import DriverCommand, MotionReport
from sim_mock.plant.body import GRAVITY_MPS2
from sim_mock.plant.motor import Motor

if TYPE_CHECKING:
    from sim_mock.plant.body import BodyState
    from sim_mock.plant.model import Actuation
    from sim_mock.plant.parameters import PlantParameters

_STANDS_MPS = 1e-6  # the rounding of a step's integration


class PlanningBody:
    """A planning model; parameters that ``given`` does not have are the vehicle's own."""

    is_sliding = False

    def __init__(
        self, parameters: PlantParameters, model: str, given: Mapping[str, Any], step_s: float
    ) -> None:
        known = {**numbers_of(parameters), **given}
        self.car = make_car(model, known, parameters.body.wheelbase_m, step_s)
        self._is_pedalled = model == PEDALLED  # it takes acceleration along the gear, not along x
        self._lr_m = parameters.body.lr_m
        self._longitudinal = LongitudinalDrive(parameters)
        self._top_mps = top_mps(parameters)
        self._gear = DRIVE
        self._put: State = ()
        self.rim_mps = 0.0

    def move(self, dt_s: float, acts: Actuation, truth: BodyState) -> None:
        if truth.values() != self._put:  # the car was moved since the last step
            self.car.place(*rear_axle_position(truth, self._lr_m), truth.yaw_rad, truth.vx_mps)
        self.car.step(dt_s, self._command(dt_s, acts, truth.vx_mps))
        motion = self.car.report()
        truth.assign(self._of_centre(motion))
        self._put = truth.values()
        self.rim_mps = motion.vx_mps

    def _command(self, dt_s: float, acts: Actuation, speed_mps: float) -> DriverCommand:
        self._shift(acts.duty)
        is_braked = acts.brake_n > abs(acts.pushes_n(speed_mps))
        along_mps2 = self._longitudinal.accel_mps2(dt_s, acts, speed_mps)
        goes_back = self._is_pedalled and self._gear == REVERSE
        return DriverCommand(
            vx_mps=0.0 if is_braked else acts.duty * self._top_mps,
            ax_mps2=-along_mps2 if goes_back else along_mps2,
            steer_rad=acts.steer_rad,
            gear=self._gear,
        )

    def _shift(self, duty: float) -> None:
        """Change gear at standstill only: a geared model keeps its stop's deceleration a step."""
        motion = self.car.report()
        if duty != 0.0 and abs(motion.vx_mps) < _STANDS_MPS and motion.ax_mps2 == 0.0:
            self._gear = DRIVE if duty > 0.0 else REVERSE

    def _of_centre(self, motion: MotionReport) -> tuple[float, float, float, float, float, float]:
        """Return the state of the centre of gravity; the model's reference is the rear axle."""
        ahead_m = self._lr_m
        return (
            motion.x_m + ahead_m * cos(motion.yaw_rad),
            motion.y_m + ahead_m * sin(motion.yaw_rad),
            motion.yaw_rad,
            motion.vx_mps,
            motion.vy_mps + ahead_m * motion.wz_radps,
            motion.wz_radps,
        )


def numbers_of(p: PlantParameters) -> dict[str, float]:
    """Return the vehicle's servo, and motors on its mass, as numbers of Autoware's names."""
    motor = Motor(p.motor, p.battery, p.drive.turns_rad_per_m)
    motor.drive(1.0, top_mps(p), False)
    return {
        "steer_time_delay": p.servo.dead_time_s,
        "steer_time_constant": p.servo.lag_s,
        "steer_rate_lim": p.servo.rate_rad_s,
        "vel_time_delay": 0.0,
        "vel_time_constant": (p.body.mass_kg + p.drive.rotating_mass_kg) / motor.damping_n_per_mps,
        "vel_lim": top_mps(p),
        "vel_rate_lim": p.mu * GRAVITY_MPS2,
        "acc_time_delay": 0.0,
        "acc_time_constant": 0.0,
    }
