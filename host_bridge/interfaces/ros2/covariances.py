"""How far what a car says may be off: variances of its odometry and its inertial sensor.

Each number is the vehicle file's (its noise and bias of the gyro, its length of a count), or one of
the estimates below. What is not measured at all has a variance that no filter believes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from host_bridge.domain import CarMotion, Vehicle

NOT_MEASURED = 1e6  # as drivers of planar robots say it: z, roll, pitch
EXACT = 1e-9  # of the truth of a virtual car: 0 would mean that it is not known
_WAY_SHARE = 0.02  # estimate: a tyre's rolling radius under load, and its slip in a bend
_WINDOW_S = 0.04  # over which the car's program measures a speed (firmware/core/odometry.py)
_NO_GYRO_RADPS = 0.05  # estimate: a yaw rate that is reckoned from steering and speed
_NO_NOISE_MPS2 = 0.1  # estimate, for a vehicle file without an [plant.imu]
_WRAP_S = 2.0**30 * 1e-6  # of the board's time


@dataclass(frozen=True)
class Spread:
    """Standard deviations of one vehicle's sensors."""

    count_m: float
    yaw_rate_noise_radps: float
    yaw_rate_bias_radps: float
    accel_mps2: float

    @staticmethod
    def of(vehicle: Vehicle) -> Spread:
        """From the vehicle file."""
        found = vehicle.plant.get("imu")
        imu = found if isinstance(found, Mapping) else {}
        has_gyro = bool(vehicle.parameters.get("gyro_fitted", [0])[0])
        noise = float(imu.get("yaw_rate_noise_radps", _NO_GYRO_RADPS))
        bias = float(imu.get("yaw_rate_bias_radps", _NO_GYRO_RADPS))
        accel = float(imu.get("accel_noise_mps2", 0.0)) + float(imu.get("accel_bias_mps2", 0.0))
        return Spread(
            vehicle.parameters["nm_per_count"][0] * 1e-9,
            noise if has_gyro else _NO_GYRO_RADPS,
            bias if has_gyro else _NO_GYRO_RADPS,
            accel or _NO_NOISE_MPS2,
        )


class Reckoning:
    """What has become of an odometry's error since the car's board began."""

    def __init__(self, vehicle: Vehicle) -> None:
        self.spread = Spread.of(vehicle)
        self._lasted_s = 0.0
        self._before_us: int | None = None

    def step(self, motion: CarMotion) -> None:
        """Take the time that has passed; a board that began anew has forgotten its way."""
        if self._before_us is not None:
            passed_s = (motion.captured_us - self._before_us) * 1e-6 % _WRAP_S
            is_anew = motion.distance_m == 0.0
            self._lasted_s = 0.0 if is_anew else self._lasted_s + passed_s
        self._before_us = motion.captured_us

    def pose(self, motion: CarMotion) -> dict[int, float]:
        """The diagonal of a pose's covariance: x, y, z, roll, pitch, yaw.

        A gyro's bias turns the heading further with time, and the way that is reckoned bends with
        it: at its end by half of that angle.
        """
        yaw_rad = self.spread.yaw_rate_bias_radps * self._lasted_s
        share = _WAY_SHARE**2 + (yaw_rad / 2.0) ** 2
        place = self.spread.count_m**2 + share * motion.distance_m**2
        yaw = yaw_rad**2 + self.spread.yaw_rate_noise_radps**2
        return _diagonal(place, place, yaw)

    def twist(self) -> dict[int, float]:
        """The diagonal of a twist's: one count in the window, and the gyro's noise and bias."""
        speed = (self.spread.count_m / _WINDOW_S) ** 2 / 12.0
        side = speed  # it is said to be 0: a car that slides is faster
        rate = self.spread.yaw_rate_noise_radps**2 + self.spread.yaw_rate_bias_radps**2
        return _diagonal(speed, side, rate)


def exact() -> dict[int, float]:
    """The diagonal of what is known."""
    return _diagonal(EXACT, EXACT, EXACT)


def fill(covariance: Any, diagonal: Mapping[int, float]) -> None:
    """Put a diagonal into a message's list of numbers."""
    for index, variance in diagonal.items():
        covariance[index] = variance


def fill_imu(message: Any, spread: Spread) -> None:
    """One rate and two accelerations are measured; the third is what a level car feels."""
    rate = spread.yaw_rate_noise_radps**2 + spread.yaw_rate_bias_radps**2
    accel = spread.accel_mps2**2
    fill(message.angular_velocity_covariance, {0: NOT_MEASURED, 4: NOT_MEASURED, 8: rate})
    fill(message.linear_acceleration_covariance, {0: accel, 4: accel, 8: NOT_MEASURED})


def _diagonal(x: float, y: float, yaw: float) -> dict[int, float]:
    return {0: x, 7: y, 14: NOT_MEASURED, 21: NOT_MEASURED, 28: NOT_MEASURED, 35: yaw}
