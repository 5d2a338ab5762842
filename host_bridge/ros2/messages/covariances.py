"""Uncertainty of what a car reports: variances of its odometry and its inertial sensor.

Each number is the vehicle file's (noise and bias of the gyro, length of an encoder count), or one
of the estimates below. A quantity that is not measured has a variance too large for a filter to
use.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from host_bridge.core import CarMotion, Vehicle

NOT_MEASURED = 1e6  # z, roll and pitch, as drivers of planar robots report them
EXACT = 1e-9  # the true pose of a virtual car; 0 would mean that the covariance is unknown
_WAY_SHARE = 0.02  # estimate: a tyre's rolling radius under load, and its slip in a bend
_WINDOW_S = 0.04  # the window of the car's speed measurement (firmware/core/motion/odometry.py)
_NO_GYRO_RADPS = 0.05  # estimate: a yaw rate computed from steering and speed
_NO_NOISE_MPS2 = 0.1  # estimate, for a vehicle file without an [plant.imu]
_WRAP_S = 2.0**30 * 1e-6  # the board's timestamps wrap here


@dataclass(frozen=True)
class SensorNoise:
    """The standard deviations of one vehicle's sensors."""

    count_m: float
    yaw_rate_noise_radps: float
    yaw_rate_bias_radps: float
    accel_mps2: float

    @staticmethod
    def of(vehicle: Vehicle) -> SensorNoise:
        """Read them from the vehicle file."""
        found = vehicle.plant.get("imu")
        imu = found if isinstance(found, Mapping) else {}
        has_gyro = bool(vehicle.parameters.get("gyro_fitted", [0])[0])
        noise = float(imu.get("yaw_rate_noise_radps", _NO_GYRO_RADPS))
        bias = float(imu.get("yaw_rate_bias_radps", _NO_GYRO_RADPS))
        accel = float(imu.get("accel_noise_mps2", 0.0)) + float(imu.get("accel_bias_mps2", 0.0))
        return SensorNoise(
            vehicle.parameters["nm_per_count"][0] * 1e-9,
            noise if has_gyro else _NO_GYRO_RADPS,
            bias if has_gyro else _NO_GYRO_RADPS,
            accel or _NO_NOISE_MPS2,
        )


class OdometryError:
    """The growth of the odometry error since the car's board started."""

    def __init__(self, vehicle: Vehicle) -> None:
        self.noise = SensorNoise.of(vehicle)
        self._lasted_s = 0.0
        self._before_us: int | None = None

    def step(self, motion: CarMotion) -> None:
        """Add the time since the last report; start at 0 if the board restarted its odometry."""
        if self._before_us is not None:
            passed_s = (motion.captured_us - self._before_us) * 1e-6 % _WRAP_S
            is_anew = motion.distance_m == 0.0
            self._lasted_s = 0.0 if is_anew else self._lasted_s + passed_s
        self._before_us = motion.captured_us

    def pose(self, motion: CarMotion) -> dict[int, float]:
        """Return the diagonal of the pose covariance (x, y, z, roll, pitch, yaw) by index.

        The gyro bias turns the heading further with time, and bends the reckoned path with it: at
        its end by half of that angle.
        """
        yaw_rad = self.noise.yaw_rate_bias_radps * self._lasted_s
        share = _WAY_SHARE**2 + (yaw_rad / 2.0) ** 2
        place = self.noise.count_m**2 + share * motion.distance_m**2
        yaw = yaw_rad**2 + self.noise.yaw_rate_noise_radps**2
        return _diagonal(place, place, yaw)

    def twist(self) -> dict[int, float]:
        """Return the diagonal of the twist covariance: one count per window, the gyro's errors."""
        speed = (self.noise.count_m / _WINDOW_S) ** 2 / 12.0  # of a rounding: its square over 12
        side = speed  # the lateral speed is reported as 0; a sliding car has one
        rate = self.noise.yaw_rate_noise_radps**2 + self.noise.yaw_rate_bias_radps**2
        return _diagonal(speed, side, rate)


def exact_covariance() -> dict[int, float]:
    """Return the diagonal of a quantity that is known exactly."""
    return _diagonal(EXACT, EXACT, EXACT)


def fill_diagonal(covariance: Any, diagonal: Mapping[int, float]) -> None:
    """Write a diagonal into a message's flat covariance list."""
    for index, variance in diagonal.items():
        covariance[index] = variance


def fill_imu_covariances(message: Any, noise: SensorNoise) -> None:
    """Fill the covariances of an Imu message.

    One rate and two accelerations are measured; the vertical one is that of a level car, and counts
    as not measured.
    """
    rate = noise.yaw_rate_noise_radps**2 + noise.yaw_rate_bias_radps**2
    accel = noise.accel_mps2**2
    # Of a 3 by 3 matrix, the diagonal: 0, 4 and 8
    fill_diagonal(message.angular_velocity_covariance, {0: NOT_MEASURED, 4: NOT_MEASURED, 8: rate})
    fill_diagonal(message.linear_acceleration_covariance, {0: accel, 4: accel, 8: NOT_MEASURED})


def _diagonal(x: float, y: float, yaw: float) -> dict[int, float]:
    # of a 6 by 6 matrix, the diagonal
    return {0: x, 7: y, 14: NOT_MEASURED, 21: NOT_MEASURED, 28: NOT_MEASURED, 35: yaw}
