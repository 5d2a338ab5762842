"""The whole virtual car below its board: from the board's eight outputs to its pins' readings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import cos, inf, sin, sqrt
from typing import TYPE_CHECKING

from sim_mock.plant.body import GRAVITY_MPS2, BodyInput, BodyState
from sim_mock.plant.brake import FrontBrake
from sim_mock.plant.drive import Driveline
from sim_mock.plant.esc import Esc, EscParameters
from sim_mock.plant.integrators import step_body
from sim_mock.plant.model import Actuation
from sim_mock.plant.motor import Motor
from sim_mock.plant.parameters import PlantParameters
from sim_mock.plant.servo import CalibrationCurve, Servo
from sim_mock.plant.vesc import VescModel, VescParameters
from sim_mock.sensors.encoder import EncoderPair
from sim_mock.sensors.imu import ImuModel

if TYPE_CHECKING:
    from sim_mock.plant.model import Model

FULL_DUTY = 10_000  # all of the time, in 1/10000

Steered = list[tuple[int, Servo]]  # (output channel, servo)


class Plant:
    """One car on a flat floor; a ``model``, if given, replaces its body and driveline.

    ``truth`` is the state of the centre of gravity; ``steer_rad`` and ``steer_rear_rad`` are the
    angles of the two axles' wheels; ``imu`` holds the last sample. It starts at rest in the origin.

    Attributes for tests and faults: ``is_on_stand``, the wheels are off the ground; ``pushed_n``, a
    push along the car; ``stuck_throttle``, the motors' throttle (-1 to 1) whatever is put out,
    while they have power; ``is_drive_inverted``, forward was taught as reverse;
    ``is_steering_stuck``, the servos do not move; ``is_drive_dead``, the ESC never arms; without
    ``has_power`` no motor drives or brakes, and the brake's servo is released.
    """

    __slots__ = ("_accel_x_mps2", "_brake", "_drive", "_esc", "_front", "_front_share", "_input",
                 "_motor", "_p", "_rear", "encoder", "has_power", "imu", "is_drive_dead",
                 "is_drive_inverted", "is_on_stand", "is_outdoors", "is_steering_stuck", "model",
                 "pushed_n", "rise_x", "rise_y", "steer_rad", "steer_rear_rad", "stuck_throttle",
                 "truth", "wind_x_mps", "wind_y_mps")  # fmt: skip

    def __init__(self, parameters: PlantParameters, seed: int, model: Model | None = None) -> None:
        p = self._p = parameters
        self.truth = BodyState()
        self.imu = ImuModel(p.imu, seed)
        self.steer_rad = self.steer_rear_rad = 0.0
        self._input = BodyInput(p.body, p.mu)
        self._drive = Driveline(p.drive, p.body.mass_kg)
        self._front_share = p.drive.front_share(p.body.lr_m, p.body.wheelbase_m)
        self.model = model
        self._motor = Motor(p.motor, p.battery, p.drive.turns_rad_per_m)
        self._esc = speed_controller(p.esc)
        self._brake = FrontBrake(p.brake, p.drive.wheel_radius_m) if p.brake else None
        self.encoder = EncoderPair(p.encoder, p.drive.wheel_radius_m, p.body.track_m)
        self._front = self._servos("front")
        self._rear = self._servos("rear")
        self._accel_x_mps2 = 0.0
        self.is_on_stand = self.is_steering_stuck = self.is_drive_inverted = False
        self.is_drive_dead = False
        self.has_power = True
        self.pushed_n = 0.0
        self.stuck_throttle: float | None = None
        self.put_outdoors()

    @property
    def parameters(self) -> PlantParameters:
        """The parameters it was made from, payload included."""
        return self._p

    @property
    def speed_controller(self) -> Esc | VescModel | None:
        """The speed controller; None on H-bridges."""
        return self._esc

    @property
    def battery_mv(self) -> int:
        return round(1000.0 * self._motor.battery_v)

    @property
    def wheel_speed_mps(self) -> float:
        """The speed of the driven rims: the car's own, unless they slide."""
        return self._drive.rim_mps

    @property
    def is_sliding(self) -> bool:
        """True while the wheels spin or are locked."""
        is_locked = bool(self._brake and self._brake.is_locked) and self.truth.vx_mps != 0.0
        return self._drive.is_sliding or is_locked

    @property
    def yaw_rate_mrad_s(self) -> int:
        return self.imu.yaw_rate_mrad_s

    @property
    def accel_x_mm_s2(self) -> int:
        return self.imu.accel_x_mm_s2

    @property
    def accel_y_mm_s2(self) -> int:
        return self.imu.accel_y_mm_s2

    def set_grip(self, mu: float) -> None:
        """Give the whole floor another coefficient of friction from now on."""
        self._p = replace(self._p, mu=mu)

    def counts(self) -> tuple[int, int]:
        """Return the left and right wheel counts, modulo 2**30; they rise going forward."""
        return self.encoder.counts()

    def step(self, dt_s: float, outputs: Sequence[int], enable: bool) -> None:
        """Advance by ``dt_s`` (1 ms as a rule, 5 ms at most) with the board's outputs held.

        ``outputs``: by channel, pulses in ns (0: none) and duties in 1/10000. Without ``enable``
        the motors coast; the servos go on.
        """
        truth, u = self.truth, self._input
        self._steer(dt_s, outputs)
        u.load(self._accel_x_mps2, self._mu(), self._p.body)
        self._power(dt_s, outputs, enable)
        vx, vy = truth.vx_mps, truth.vy_mps
        rim_mps = self._drive.rim_mps
        self._move(dt_s)
        rate = truth.yaw_rate_radps
        self.encoder.step(dt_s, 0.5 * dt_s * (rim_mps + self._drive.rim_mps), rate * dt_s)
        self._accel_x_mps2 = (truth.vx_mps - vx) / dt_s - vy * rate
        accel_y_mps2 = (truth.vy_mps - vy) / dt_s + vx * rate
        self.imu.speed_mps = truth.vx_mps
        if self.is_outdoors:
            rises = self._in_car(self.rise_x, self.rise_y)
            felt_x_mps2 = self._accel_x_mps2 + GRAVITY_MPS2 * rises[0]
            self.imu.step(dt_s, rate, felt_x_mps2, accel_y_mps2 + GRAVITY_MPS2 * rises[1])
        else:
            self.imu.step(dt_s, rate, self._accel_x_mps2, accel_y_mps2)

    def put_outdoors(
        self, wind_mps: tuple[float, float] = (0.0, 0.0), rise: tuple[float, float] = (0.0, 0.0)
    ) -> None:
        """Let wind blow, and tilt the floor, in the world's axes.

        ``wind_mps`` is the speed of the air; ``rise`` the sine of the floor's slope, upward
        positive. Air pushes across the car as it does along it.
        """
        self.wind_x_mps, self.wind_y_mps = wind_mps
        self.rise_x, self.rise_y = rise
        self.is_outdoors = any((*wind_mps, *rise))
        self._input.force_y_n = 0.0  # indoors no step sets it

    def _in_car(self, x: float, y: float) -> tuple[float, float]:
        """Return a vector of the world along and across the car."""
        c, s = cos(self.truth.yaw_rad), sin(self.truth.yaw_rad)
        return c * x + s * y, c * y - s * x

    def _outdoors_n(self) -> tuple[float, float]:
        """Return the force of slope and wind along and across the car, beside the drag in calm."""
        truth, drag_n_per_mps2 = self.truth, self._p.drive.drag_n_per_mps2
        weight_n = self._p.body.mass_kg * GRAVITY_MPS2
        rise_x, rise_y = self._in_car(self.rise_x, self.rise_y)
        wind_x, wind_y = self._in_car(self.wind_x_mps, self.wind_y_mps)
        air_x, air_y = truth.vx_mps - wind_x, truth.vy_mps - wind_y
        air_n_per_mps = drag_n_per_mps2 * sqrt(air_x * air_x + air_y * air_y)
        calm_n = drag_n_per_mps2 * truth.vx_mps * abs(truth.vx_mps)
        return (
            calm_n - air_n_per_mps * air_x - weight_n * rise_x,
            -air_n_per_mps * air_y - weight_n * rise_y,
        )

    def _servos(self, axle: str) -> Steered:
        return [
            (s.channel, Servo(CalibrationCurve(s.curve, s.wheel_ratio), self._p.servo))
            for s in self._p.steering
            if s.axle == axle
        ]

    def _steer(self, dt_s: float, outputs: Sequence[int]) -> None:
        if self.is_steering_stuck:
            return
        front_rad = _mean_rad(self._front, dt_s, outputs)
        rear_rad = _mean_rad(self._rear, dt_s, outputs)
        if front_rad != self.steer_rad or rear_rad != self.steer_rear_rad:
            self.steer_rad, self.steer_rear_rad = front_rad, rear_rad
            self._input.steer(front_rad, rear_rad, self._p.body)

    def _mu(self) -> float:
        mu = self._p.mu
        for patch in self._p.patches:
            x, y = self.truth.x_m - patch.x_m, self.truth.y_m - patch.y_m
            if x * x + y * y < patch.radius_m * patch.radius_m:
                mu *= patch.mu_scale
        return mu

    def _power(self, dt_s: float, outputs: Sequence[int], enable: bool) -> None:
        motor, rim_mps, channels = self._motor, self._drive.rim_mps, self._p.drive_channels
        if self._brake and self._p.brake:
            released_ns = round(self._p.brake.released_ns)
            self._brake.step(
                dt_s, outputs[self._p.brake.channel] if self.has_power else released_ns
            )
        if self._esc and self._p.esc:
            pulse_ns = outputs[channels[0]]
            if self.is_drive_inverted and pulse_ns:
                pulse_ns = round(2 * self._p.esc.neutral_ns) - pulse_ns
            self._esc.step(dt_s, pulse_ns, enable, motor, rim_mps)
        elif enable:
            duty = _mean_duty(channels, outputs)
            motor.drive(-duty if self.is_drive_inverted else duty, rim_mps, False)
        else:
            motor.coast()
        if self.stuck_throttle is not None and enable:
            motor.drive(self.stuck_throttle, rim_mps, isinstance(self._esc, Esc))
        if self.is_drive_dead or not self.has_power:
            motor.coast()

    def _move(self, dt_s: float) -> None:
        truth, u, p = self.truth, self._input, self._p
        motor, drive = self._motor, self._drive
        line = motor.push_n, motor.damping_n_per_mps
        if self.is_on_stand:
            truth.vx_mps = truth.vy_mps = truth.yaw_rate_radps = 0.0
            drive.spin(dt_s, line)
            return
        if self.model is not None:
            self._let_move(dt_s, self.model)
            return
        share = p.drive.front_share(u.load_front_n, u.load_front_n + u.load_rear_n)
        grip_n = (share > 0.0) * u.grip_front_n + (share < 1.0) * u.grip_rear_n
        before_mps = self._rolled_mps()
        brake_n = self._brake.max_force_n(u.grip_front_n) if self._brake else 0.0
        pushed_n = self.pushed_n
        if self.is_outdoors:
            along_n, u.force_y_n = self._outdoors_n()
            pushed_n += along_n
        force_n = drive.force_n(dt_s, line, before_mps, grip_n, brake_n, pushed_n)
        u.force_front_n = share * force_n + drive.braked_n
        u.force_rear_n = (1.0 - share) * force_n
        drag_n = p.drive.drag_n_per_mps2 * truth.vx_mps * abs(truth.vx_mps)
        u.force_x_n = pushed_n - drag_n
        if drive.is_held and self._is_left_alone(force_n):
            truth.vx_mps = truth.vy_mps = truth.yaw_rate_radps = 0.0
            drive.follow(dt_s, 0.0, 0.0)
            return
        is_rolling = step_body(truth, dt_s, u, p.body, p.integrate)
        if is_rolling and drive.is_held:
            truth.vx_mps = truth.vy_mps = truth.yaw_rate_radps = 0.0
        drive.follow(dt_s, before_mps, self._rolled_mps())

    def _is_left_alone(self, force_n: float) -> bool:
        """Return whether the car stands and no force acts: the body's step would change nothing.

        It saves time, as cars often stand.
        """
        s, u = self.truth, self._input
        is_moved = s.vx_mps or s.vy_mps or s.yaw_rate_radps
        return not (is_moved or force_n or self._drive.braked_n or u.force_x_n)

    def _let_move(self, dt_s: float, model: Model) -> None:
        motor, drive = self._motor, self._drive
        brake_n = self._brake.max_force_n(inf) if self._brake else 0.0
        push_n = motor.push_n + self.pushed_n
        acts = Actuation(
            motor.duty,
            push_n,
            motor.damping_n_per_mps,
            brake_n,
            self.steer_rad,
            self.steer_rear_rad,
        )
        model.move(dt_s, acts, self.truth)
        drive.rim_mps, drive.is_sliding = model.rim_mps, model.is_sliding

    def _rolled_mps(self) -> float:
        """Return the speed at which all wheels roll without slip, weighted by the load at rest.

        Steered axles roll at different speeds. Weighting them by the present load would make their
        mean jump with each change of it, and the turning mass would then push the car back and
        forth at every step, in any bend that is tight enough.
        """
        s, u, p = self.truth, self._input, self._p.body
        share = self._front_share
        vx, vy, rate = s.vx_mps, s.vy_mps, s.yaw_rate_radps
        front_mps = vx * u.cos_front + (vy + p.lf_m * rate) * u.sin_front
        rear_mps = vx * u.cos_rear + (vy - p.lr_m * rate) * u.sin_rear
        return share * front_mps + (1.0 - share) * rear_mps


def speed_controller(p: EscParameters | VescParameters | None) -> Esc | VescModel | None:
    """Return the controller of the drive channel's pulses; None on H-bridges."""
    if isinstance(p, VescParameters):
        return VescModel(p)
    return Esc(p) if p else None


def _mean_duty(channels: tuple[int, ...], outputs: Sequence[int]) -> float:
    total = 0
    for channel in channels:
        total += outputs[channel]
    return total / (FULL_DUTY * len(channels))


def _mean_rad(servos: Steered, dt_s: float, outputs: Sequence[int]) -> float:
    if not servos:
        return 0.0
    total_rad = 0.0
    for channel, servo in servos:
        total_rad += servo.step(dt_s, outputs[channel])
    if len(servos) == 1:
        return total_rad
    return total_rad / float(len(servos))  # a float division in compiled code too
