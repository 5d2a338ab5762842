"""The instruments of a car, each sampling a world at its own rate, with the truth beside.

``Sampler`` runs them: it is called with the world after each step of the plant, and hands every
sample to ``put`` when it would reach a computer on the car.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import cos, pi, sin
from random import Random
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from sim_mock.sensors.edge_casting import caster_of
from sim_mock.sensors.lidar import Lidar
from sim_mock.sensors.outdoor_instruments import Barometer, GpsReceiver, Magnetometer
from sim_mock.sensors.parameters import LidarParameters, PositionParameters
from sim_mock.sensors.ray_casting import Floats
from sim_mock.tracks.driving_area import DrivingArea
from sim_mock.tracks.shared_track import pose_of

if TYPE_CHECKING:
    from sim_mock.tracks.contact import Contact
    from sim_mock.world import World

Others = Callable[["World"], Floats]  # returns the sides of other cars at their present places

WHEELS_HZ = 100.0  # as often as the board reads its counters


@dataclass(frozen=True)
class SensorSample:
    """One sample of an instrument; ``truth`` is without any error; times are the world's."""

    sensor: str
    taken_us: int
    out_us: int
    measured: dict[str, Any]
    truth: dict[str, Any]


class Instrument(Protocol):
    """An instrument; ``take`` returns the measured values and their true values."""

    name: str
    rate_hz: float
    latency_us: int

    def take(self, world: World) -> tuple[dict[str, Any], dict[str, Any]]: ...


class GroundTruth:
    """The true state of the centre of gravity, and contacts with walls, for comparison."""

    name, latency_us = "truth", 0
    rate_hz = 100.0  # once a step of a car
    KEYS = ("x_m", "y_m", "yaw_rad", "vx_mps", "vy_mps", "yaw_rate_radps")

    def __init__(self, contact: Contact | None) -> None:
        self._contact = contact

    def take(self, world: World) -> tuple[dict[str, Any], dict[str, Any]]:
        truth = dict(zip(self.KEYS, world.plant.truth.values(), strict=True))
        return {}, {**truth, **(self._contact.seen() if self._contact else {})}


class InertialUnit:
    """The IMU that the board reads, in SI units, with the axis that the board leaves out."""

    name, latency_us = "imu", 0
    KEYS = ("yaw_rate_radps", "accel_x_mps2", "accel_y_mps2", "accel_z_mps2")

    def __init__(self, rate_hz: float) -> None:
        self.rate_hz = rate_hz

    def take(self, world: World) -> tuple[dict[str, Any], dict[str, Any]]:
        imu = world.plant.imu
        pair = (imu.measured, imu.truth)
        measured, truth = (dict(zip(self.KEYS, values, strict=True)) for values in pair)
        return measured, truth


class WheelCounters:
    """The counts as the board has them; with magnets also the time between the last two."""

    name, rate_hz, latency_us = "wheels", WHEELS_HZ, 0

    def __init__(self, magnet_gap_m: float) -> None:
        self._gap_m = magnet_gap_m  # 0: none

    def take(self, world: World) -> tuple[dict[str, Any], dict[str, Any]]:
        plant = world.plant
        left, right = plant.counts()
        measured: dict[str, Any] = {"left_counts": left, "right_counts": right}
        apart_mps = plant.encoder.half_track_m * plant.truth.yaw_rate_radps
        speeds = plant.wheel_speed_mps - apart_mps, plant.wheel_speed_mps + apart_mps
        truth: dict[str, Any] = dict(zip(("left_mps", "right_mps"), speeds, strict=True))
        if self._gap_m:
            for side, period_s, speed in zip(
                ("left", "right"), plant.encoder.periods_s, speeds, strict=True
            ):
                measured[f"{side}_period_s"] = period_s or None
                truth[f"{side}_period_s"] = self._gap_m / abs(speed) if speed else None
        return measured, truth


class PositionSensor:
    """A satellite receiver, or cameras over the room: the antenna's position, with latency."""

    name = "position"

    def __init__(self, parameters: PositionParameters, lr_m: float, seed: int) -> None:
        self.rate_hz = parameters.rate_hz
        self.latency_us = round(parameters.latency_s * 1e6)
        self._noise_m = parameters.noise_m
        self._ahead_m = parameters.ahead_m - lr_m
        self._random = Random(f"position {seed}")

    def take(self, world: World) -> tuple[dict[str, Any], dict[str, Any]]:
        car = pose_of(world)
        x_m = car.x_m + self._ahead_m * cos(car.yaw_rad)
        y_m = car.y_m + self._ahead_m * sin(car.yaw_rad)
        noisy = [value + self._random.gauss(0.0, self._noise_m) for value in (x_m, y_m)]
        return {"x_m": noisy[0], "y_m": noisy[1]}, {"x_m": x_m, "y_m": y_m}


class LidarScanner:
    """The LIDAR; a range is None where there is no valid one (JSON has neither inf nor nan).

    Ray i looks along ``first_rad + i * step_rad`` in the car, to the left.
    """

    name, latency_us = "lidar", 0

    def __init__(
        self, lidar: Lidar, parameters: LidarParameters, others: Others | None = None
    ) -> None:
        self._others = others
        self.rate_hz = parameters.rate_hz
        self._geometry = {"first_rad": parameters.first_rad, "step_rad": parameters.step_rad}
        self._lidar = lidar

    def take(self, world: World) -> tuple[dict[str, Any], dict[str, Any]]:
        self._lidar.take(pose_of(world), self._others(world) if self._others else None)
        measured = {**self._geometry, "ranges_m": _ranges(self._lidar.scan)}
        return measured, {"ranges_m": _ranges(self._lidar.truth)}


def _ranges(ranges: Floats) -> list[float | None]:
    rounded: list[float | None] = ranges.round(4).tolist()
    for i in np.flatnonzero(~np.isfinite(ranges)).tolist():
        rounded[i] = None
    return rounded


def instruments_of(
    world: World,
    seed: int,
    area: DrivingArea | None = None,
    contact: Contact | None = None,
    others: Others | None = None,
) -> list[Instrument]:
    """Return the instruments of the world's vehicle; a LIDAR only where there are walls."""
    p = world.plant.parameters
    turn_m = 2.0 * pi * p.drive.wheel_radius_m
    gap_m = turn_m / p.encoder.magnets if p.encoder.magnets else 0.0
    found: list[Instrument] = [
        GroundTruth(contact),
        InertialUnit(p.imu.rate_hz),
        WheelCounters(gap_m),
    ]
    if p.position:
        found.append(PositionSensor(p.position, p.body.lr_m, seed))
    if p.gps:
        found.append(GpsReceiver(p.gps, p.body.lr_m, seed))
    if p.magnetometer:
        found.append(Magnetometer(p.magnetometer, seed))
    if p.barometer:
        found.append(Barometer(p.barometer, seed))
    if p.lidar and area:
        lidar = Lidar(p.lidar, caster_of(area), p.body.lr_m, seed)
        found.append(LidarScanner(lidar, p.lidar, others))
    return found


class Sampler:
    """A scheduler that takes samples when they are due and hands them on after their latency."""

    def __init__(
        self, instruments: Sequence[Instrument], put: Callable[[SensorSample], None], now_us: int
    ) -> None:
        self._instruments = instruments
        self._put = put
        self._begun_us = now_us
        self._taken = [0] * len(instruments)
        self._due_us = [self._next_us(i) for i in range(len(instruments))]
        self._count = 0
        self._on_the_way: list[tuple[int, int, SensorSample]] = []

    def step(self, world: World) -> None:
        """Take and hand on what is due; call it with the world after each step of the plant."""
        now_us = world.now_us
        for i, due_us in enumerate(self._due_us):
            if due_us <= now_us:
                self._take(i, world)
        while self._on_the_way and self._on_the_way[0][0] <= now_us:
            self._put(heapq.heappop(self._on_the_way)[2])

    def _take(self, i: int, world: World) -> None:
        instrument, now_us = self._instruments[i], world.now_us
        self._taken[i] += 1
        self._due_us[i] = self._next_us(i)
        out_us = now_us + instrument.latency_us
        sample = SensorSample(instrument.name, now_us, out_us, *instrument.take(world))
        self._count += 1
        heapq.heappush(self._on_the_way, (out_us, self._count, sample))

    def _next_us(self, i: int) -> int:
        return self._begun_us + round((self._taken[i] + 1) * 1e6 / self._instruments[i].rate_hz)
