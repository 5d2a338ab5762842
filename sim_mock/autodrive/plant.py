"""A plant that exchanges frames instead of computing: the car in the AutoDRIVE Simulator.

It has the interface of ``sim_mock.plant`` for a World. Without frames for ``LOST_S`` it is lost:
its command is to stand, its sensors freeze, and its owner opens the car's runstop loop.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import copysign, floor, pi
from typing import TYPE_CHECKING

from sim_mock.autodrive.actuators import Actuators
from sim_mock.autodrive.playout import Pair, PlayoutBuffer
from sim_mock.autodrive.telemetry import TelemetryValues
from sim_mock.plant.body import BodyState
from sim_mock.sensors.encoder import COUNTER_MASK
from sim_mock.sensors.imu import ImuModel

if TYPE_CHECKING:
    from sim_mock.autodrive.cars import SimulatedCar
    from sim_mock.autodrive.command import VehicleCommand
    from sim_mock.plant.parameters import PlantParameters

LOST_S = 0.5  # without a frame: fifteen of the slowest simulator's
# Both are shorter than the board's timeout for driving without motion (stop.stuck_s, 0.3 s).
_IGNORED_S = 0.2
_FROZEN_S = 0.25
_SHIFTS_S = 1.0  # the same with a gearbox, which moves nothing while it shifts
_ASKED = 0.01  # least throttle that counts: less than this may be echoed as 0
_TURN_RAD = 2.0 * pi
_JUMP_TIMES = 3.0  # a wheel this many times faster than the car can go was reset, not turned
_GAP_MIN_US = 1000  # so that two frames at once give no infinite speed
_JUMP_GAP_S = 0.05  # frames may come in bursts: travel of at least this time is allowed


class ExchangedPlant:
    """One car in the simulator; ``truth`` is the simulator's report, unfiltered; left is positive.

    ``telemetry`` is its last frame, ``now_us`` the time that the plant has been stepped to.
    """

    def __init__(self, parameters: PlantParameters, seed: int, car: SimulatedCar) -> None:
        p = self._p = parameters
        self._car = car
        self._actuators = Actuators(p, car)
        self.imu = ImuModel(p.imu, seed)
        self.truth = BodyState()
        self.telemetry = TelemetryValues()
        self.steer_rad = self.steer_rear_rad = 0.0
        self.is_sliding = False
        self.wheel_speed_mps = 0.0
        self._playout = PlayoutBuffer()
        self._ignored_us = self._frozen_us = 0  # durations by the frames' times
        self._twice = 0  # consecutive frames without progress in time
        self.battery_mv = round(
            1000.0 * (p.battery.emf_v - p.battery.resistance_ohm * p.battery.idle_a)
        )
        self.now_us = 0
        self._heard_us: int | None = None  # when the last frame with wheels came; None: lost
        self._raw_rad: Pair = (0.0, 0.0)

    @property
    def fault_text(self) -> str:
        """The reason why the simulator does not drive this car, as a text; "" if it does."""
        if self.is_lost:
            return (
                "the simulator is not connected, or says nothing of this car: press Connect in it"
                if self._heard_us is None
                else "the simulator has fallen silent"
            )
        if self._ignored_us >= _IGNORED_S * 1e6:
            return "the simulator is in Manual: press its Driving Mode until it says Autonomous"
        if (
            self._twice > 1
            or self._frozen_us >= (_SHIFTS_S if self._car.has_pedals else _FROZEN_S) * 1e6
        ):
            return "nothing moves in the simulator: it is paused, or the run in it has ended"
        return ""

    @property
    def is_driven(self) -> bool:
        """True if the simulator is connected and follows the commands."""
        return not self.fault_text

    @property
    def is_lost(self) -> bool:
        """True if no frame with wheel angles came for ``LOST_S``."""
        return self._heard_us is None or self.now_us - self._heard_us >= LOST_S * 1e6

    @property
    def command(self) -> VehicleCommand:
        """The present command to the simulator."""
        command = self._actuators.command
        return command.held() if self.is_lost else command

    @property
    def yaw_rate_mrad_s(self) -> int:
        return self.imu.yaw_rate_mrad_s

    @property
    def accel_x_mm_s2(self) -> int:
        return self.imu.accel_x_mm_s2

    @property
    def accel_y_mm_s2(self) -> int:
        return self.imu.accel_y_mm_s2

    def counts(self) -> tuple[int, int]:
        """Return left and right wheel counts, modulo 2**30; they rise going forward."""
        left_rad, right_rad = self._playout.shown_rad
        if self._p.encoder.on == "shaft":
            left_rad = right_rad = 0.5 * (left_rad + right_rad)
        per_rad = self._p.encoder.counts_per_rev / _TURN_RAD
        return floor(left_rad * per_rad) & COUNTER_MASK, floor(right_rad * per_rad) & COUNTER_MASK

    def step(self, dt_s: float, outputs: Sequence[int], enable: bool) -> None:
        """Advance by ``dt_s`` with the board's outputs held (as ``Plant.step``)."""
        self.now_us += round(dt_s * 1e6)
        if not self.is_lost:
            self._playout.step(dt_s)
        self._actuators.step(dt_s, outputs, enable, self.wheel_speed_mps)
        values = self.telemetry
        if self.is_lost or not values.turning_radps or not values.accel_mps2:
            return
        self.imu.step(dt_s, values.turning_radps[2], values.accel_mps2[0], values.accel_mps2[1])

    def hear(self, telemetry: TelemetryValues, at_us: int) -> None:
        """Take a frame that came at ``at_us`` of the plant's time."""
        self._notice(telemetry, at_us)
        self.telemetry = telemetry
        wheels_rad = telemetry.wheels_rad or self._of_ticks(telemetry.ticks)
        if wheels_rad:
            self._roll((wheels_rad[0], wheels_rad[1]), at_us)
        self._learn(telemetry)

    def lose(self) -> None:
        """Note that the simulator has disconnected."""
        self._playout.stop()
        self.wheel_speed_mps = 0.0
        self._heard_us = None
        self._ignored_us = self._frozen_us = self._twice = 0

    def _notice(self, values: TelemetryValues, at_us: int) -> None:
        """Track whether the simulator follows commands, and whether time passes in it."""
        gap_us = max(at_us - self._heard_us, 0) if self._heard_us is not None else 0
        asked, echoed = abs(self.command.throttle), values.throttle
        is_ignored = asked > _ASKED and echoed is not None and abs(echoed[0]) < 0.5 * _ASKED
        self._ignored_us = self._ignored_us + gap_us if is_ignored else 0
        is_same = values.moved() == self.telemetry.moved()
        is_frozen = is_same and asked > _ASKED and not is_ignored
        self._frozen_us = self._frozen_us + gap_us if is_frozen else 0
        # The same place twice at a speed: no time has passed there. It is noticed at once, as the
        # board would see wheels that stop faster than possible.
        self._twice = self._twice + 1 if is_same and values.says_motion() else 0

    def _of_ticks(self, ticks: Sequence[float] | None) -> Pair | None:
        if not ticks:
            return None
        per_tick_rad = _TURN_RAD / self._car.ticks_per_turn
        return ticks[0] * per_tick_rad, ticks[1] * per_tick_rad

    def _roll(self, raw_rad: Pair, at_us: int) -> None:
        """Take the wheels' angles; a jump by a reset or a new scene does not count as rolling."""
        gap_us = max(at_us - self._heard_us, _GAP_MIN_US) if self._heard_us is not None else 1
        turned = (raw_rad[0] - self._raw_rad[0], raw_rad[1] - self._raw_rad[1])
        is_zeroed = raw_rad == (
            0.0,
            0.0,
        )  # a reset: both wheels at exactly 0.0000 is no chance
        if self._heard_us is None or is_zeroed or self._is_jump(turned, gap_us * 1e-6):
            turned = (0.0, 0.0)
        self._raw_rad = raw_rad
        self._heard_us = at_us
        self._playout.hear(turned, at_us * 1e-6, self._reported_radps())
        self.wheel_speed_mps = self._playout.rate_radps * self._car.wheel_radius_m

    def _reported_radps(self) -> float | None:
        """Return the frame's speed as a wheel speed in rad/s; None if missing or implausible."""
        values = self.telemetry
        speed_mps = values.velocity_mps or values.speed_mps
        if not speed_mps or abs(speed_mps[0]) > _JUMP_TIMES * self._car.top_mps:
            return None
        return abs(speed_mps[0]) / self._car.wheel_radius_m

    def _is_jump(self, turned_rad: Pair, gap_s: float) -> bool:
        most_rad = _JUMP_TIMES * self._car.top_mps / self._car.wheel_radius_m
        return max(map(abs, turned_rad)) > most_rad * max(gap_s, _JUMP_GAP_S)

    def _learn(self, values: TelemetryValues) -> None:
        truth, yaw_rad = self.truth, values.yaw_rad()
        if values.steer_rad:
            self.steer_rad = values.steer_rad[0]
        if values.position_m:
            truth.x_m, truth.y_m = values.position_m[:2]
        if yaw_rad is not None:
            truth.yaw_rad = yaw_rad
        if values.turning_radps:
            truth.yaw_rate_radps = values.turning_radps[2]
        if values.velocity_mps:
            truth.vx_mps, truth.vy_mps = values.velocity_mps[:2]
        elif values.speed_mps:
            truth.vx_mps = copysign(values.speed_mps[0], self.wheel_speed_mps)
