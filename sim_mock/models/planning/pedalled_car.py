"""DELAY_STEER_ACC_GEARED_WO_FALL_GUARD: a geared car driven by pedals, which rolls either way.

Its commanded acceleration is that of the pedals: above 0 drives in the gear's direction, below 0
brakes any motion. The gear guards nothing: in drive the car may roll backward. Autoware steps this
model by Euler, because a brake's force is not continuous at standstill, and reports the change of
speed as the acceleration. (The floor is level here; a slope would be added to ``accel_mps2``.)
"""

from typing import NamedTuple

from sim_mock.models.planning.car import SteeringModel
from sim_mock.models.planning.drive import DelayedAcceleration
from sim_mock.models.planning.gear import BACKWARD, NEUTRAL, NONE, PARK
from sim_mock.models.planning.limits import clamped
from sim_mock.models.planning.motion import DriverCommand, ModelState, MotionReport, plane_rates

_NO_DRIVE = frozenset({NONE, NEUTRAL, PARK})


class PedalAction(NamedTuple):
    """The present action of the pedals on the car."""

    asked_mps2: float
    gear: int

    def accel_mps2(self, vx_mps: float) -> float:
        """Return the acceleration: the drive's, or the brake's against the motion (0 at rest)."""
        if self.asked_mps2 >= 0.0:
            drives = 0.0 if self.gear in _NO_DRIVE else self.asked_mps2
            return -drives if self.gear in BACKWARD else drives
        if vx_mps == 0.0:
            return 0.0
        return self.asked_mps2 if vx_mps > 0.0 else -self.asked_mps2


class PedalledCar:
    """A car driven by pedals; ``state`` is a ModelState; the pedals lag behind the command."""

    def __init__(
        self, drive: DelayedAcceleration, steering: SteeringModel, wheelbase_m: float
    ) -> None:
        self._drive, self._steering, self._wheelbase_m = drive, steering, wheelbase_m
        self._pedal_mps2 = 0.0
        self.state = ModelState()

    def place(self, x_m: float, y_m: float, yaw_rad: float, vx_mps: float = 0.0) -> None:
        """Put the car there, wheels straight, pedals up; delayed commands stay in their queues."""
        self.state = ModelState(x_m, y_m, yaw_rad, vx_mps)
        self._pedal_mps2 = 0.0

    def step(self, dt_s: float, command: DriverCommand) -> ModelState:
        """Return ``state`` after one Euler step of ``dt_s`` seconds with ``command`` held."""
        old = self.state
        self._drive.begun(command, old.vx_mps, self._pedal_mps2)
        steer_rad, turns_radps = self._steering.begun(command.steer_rad, old.steer_rad)
        along_mps = clamped(old.vx_mps, self._drive.limit_mps)
        pedal_mps2, closes_mps3 = self._drive.rates(along_mps, self._pedal_mps2)
        x, y, yaw = plane_rates(along_mps, old.yaw_rad, steer_rad, self._wheelbase_m)
        speeds_mps2 = PedalAction(pedal_mps2, command.gear).accel_mps2(along_mps)
        self._pedal_mps2 += dt_s * closes_mps3
        vx_mps = self._stopped(
            old.vx_mps, clamped(old.vx_mps + dt_s * speeds_mps2, self._drive.limit_mps)
        )
        self.state = ModelState(
            old.x_m + dt_s * x,
            old.y_m + dt_s * y,
            old.yaw_rad + dt_s * yaw,
            vx_mps,
            (vx_mps - old.vx_mps) / dt_s,
            steer_rad + dt_s * turns_radps,
        )
        return self.state

    def _stopped(self, old_mps: float, new_mps: float) -> float:
        """Return the speed, or 0 if its sign would change without the pedals driving there."""
        return 0.0 if old_mps * new_mps <= 0.0 and self._pedal_mps2 <= 0.0 else new_mps

    def report(self) -> MotionReport:
        """Return the state as the simulator publishes it: the steering angle with its bias."""
        s = self.state
        wz = plane_rates(s.vx_mps, s.yaw_rad, s.steer_rad, self._wheelbase_m)[2]
        steer_rad = s.steer_rad + self._steering.bias_rad
        return MotionReport(s.x_m, s.y_m, s.yaw_rad, s.vx_mps, 0.0, s.ax_mps2, wz, steer_rad)
