"""A car composed of a drive, a steering and, in some models, a gear."""

from typing import Protocol

from sim_mock.models.integration import State, rk4
from sim_mock.models.planning.drive import DriveModel
from sim_mock.models.planning.gear import is_held
from sim_mock.models.planning.limits import clamped
from sim_mock.models.planning.motion import DriverCommand, ModelState, MotionReport, plane_rates


class SteeringModel(Protocol):
    """The interface of a steering model."""

    bias_rad: float
    lock_rad: float  # the limit of the angle that turns the car within a step

    def begun(self, command_rad: float, steer_rad: float) -> tuple[float, float]:
        """Return the angle in rad at the start of a step and its rate in rad/s during it."""
        ...


class ModelledCar:
    """One of the seven models whose equations are known; ``state`` is a ModelState."""

    def __init__(
        self, drive: DriveModel, steering: SteeringModel, is_geared: bool, wheelbase_m: float
    ) -> None:
        self._drive, self._steering = drive, steering
        self._is_geared, self._wheelbase_m = is_geared, wheelbase_m
        self.state = ModelState()

    def place(self, x_m: float, y_m: float, yaw_rad: float, vx_mps: float = 0.0) -> None:
        """Put the car there with straight wheels; delayed commands stay in their queues."""
        self.state = ModelState(x_m, y_m, yaw_rad, vx_mps)

    def step(self, dt_s: float, command: DriverCommand) -> ModelState:
        """Return ``state`` after ``dt_s`` seconds with ``command`` held."""
        old = self.state
        vx_mps, ax_mps2 = self._drive.begun(command, old.vx_mps, old.ax_mps2)
        steer_rad, rate_radps = self._steering.begun(command.steer_rad, old.steer_rad)
        begun = (old.x_m, old.y_m, old.yaw_rad, vx_mps, ax_mps2, steer_rad)
        new = ModelState(*rk4(_rates, begun, rate_radps, self, dt_s))
        new = new._replace(vx_mps=clamped(new.vx_mps, self._drive.limit_mps))
        self.state = self._settled(old, new, command.gear, dt_s)
        return self.state

    def _settled(self, old: ModelState, new: ModelState, gear: int, dt_s: float) -> ModelState:
        is_stopped = self._is_geared and is_held(gear, new.vx_mps)
        if is_stopped:
            new = new._replace(x_m=old.x_m, y_m=old.y_m, yaw_rad=old.yaw_rad, vx_mps=0.0)
        if is_stopped or self._drive.reports_change:
            new = new._replace(ax_mps2=(new.vx_mps - old.vx_mps) / dt_s)
        return new

    def rates(self, x: State, steer_rate_radps: float) -> State:
        """Return the right-hand side within a step, in the order of ModelState."""
        _, _, yaw_rad, vx_mps, ax_mps2, steer_rad = x
        along_mps = clamped(vx_mps, self._drive.limit_mps)
        turned_rad = clamped(steer_rad, self._steering.lock_rad)
        plane = plane_rates(along_mps, yaw_rad, turned_rad, self._wheelbase_m)
        return (*plane, *self._drive.rates(vx_mps, ax_mps2), steer_rate_radps)

    def report(self) -> MotionReport:
        """Return the state as the simulator publishes it: the steering angle with its bias."""
        s = self.state
        wz = plane_rates(s.vx_mps, s.yaw_rad, s.steer_rad, self._wheelbase_m)[2]
        steer_rad = s.steer_rad + self._steering.bias_rad
        return MotionReport(s.x_m, s.y_m, s.yaw_rad, s.vx_mps, 0.0, s.ax_mps2, wz, steer_rad)


def _rates(x: State, steer_rate_radps: float, car: ModelledCar) -> State:
    return car.rates(x, steer_rate_radps)
