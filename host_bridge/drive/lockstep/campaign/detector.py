"""A driver that goes straight ahead, and brakes for what its detector sees.

The detector is numbers alone: how far it sees, how often it looks, how many looks miss, and how
late its answer is. It stands for any camera or LIDAR with a program behind it, of which such
numbers were found elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import cos, radians, sin
from random import Random

from host_bridge.core import DriveCommand, Input, InputContext, Observed
from host_bridge.core.errors import UsageFault
from host_bridge.drive.lockstep.campaign.spec import BRAKE, Spec
from host_bridge.drive.lockstep.car import LockstepCar
from sim_mock.tracks.contact import Outline


@dataclass(frozen=True)
class Detector:
    """The numbers of a detector, in m, s and Hz, in the weather and light of its case."""

    range_m: float
    miss: float
    rate_hz: float
    latency_s: float


class ObstacleAhead:
    """An obstacle on the way straight ahead of the start of a car."""

    def __init__(self, car: LockstepCar, at_m: float, yaw_deg: float) -> None:
        """Raises errors.UsageFault for a vehicle without an outline."""
        try:
            self._front_m = Outline.of(car.world.plant.parameters).front_m
        except ValueError as error:
            raise UsageFault(f"an obstacle: {error}") from None
        self._truth = car.world.plant.truth
        self._start = self._truth.x_m, self._truth.y_m
        self._ahead = cos(radians(yaw_deg)), sin(radians(yaw_deg))
        self._at_m = at_m

    def distance_m(self) -> float:
        """Return how far the car's front is from it; below 0 it has hit it."""
        x_m, y_m = self._truth.x_m - self._start[0], self._truth.y_m - self._start[1]
        return self._at_m - self._front_m - (x_m * self._ahead[0] + y_m * self._ahead[1])


class BrakeForObstacle(Input):
    """The driver; once its detector has seen the obstacle it brakes for good."""

    is_computed = True

    def __init__(
        self,
        detector: Detector,
        distance_m: Callable[[], float],
        seed: int,
    ) -> None:
        self._detector = detector
        self._distance_m = distance_m
        self._chance = Random(_stream(seed))
        self._speed_mps = 0.0
        self._begun_us: int | None = None
        self.missed = 0  # looks that saw nothing of an obstacle within range
        self._looks = self._count = 0
        self._brakes_us: int | None = None

    def reseed(self, seed: int) -> None:
        """Begin the chance of its looks anew, from now on."""
        self._chance.seed(_stream(seed))

    async def open(self, context: InputContext) -> None:
        """Take the speed: the most that is allowed."""
        self._speed_mps = context.limits(self.source).speed_mps

    def step(self, now_us: int, observed: Observed) -> DriveCommand:
        """Return full speed ahead, or the whole brake once an answer is there."""
        self._count += 1
        if not observed.is_driving or not observed.is_permitted:
            return DriveCommand(input_count=self._count)
        self._begun_us = now_us if self._begun_us is None else self._begun_us
        self._look(now_us - self._begun_us, now_us)
        is_braking = self._brakes_us is not None and now_us >= self._brakes_us
        return DriveCommand(
            speed_mps=0.0 if is_braking else self._speed_mps,
            brake=1.0 if is_braking else 0.0,
            is_held=True,
            input_count=self._count,
        )

    def _look(self, driven_us: int, now_us: int) -> None:
        """Look as often as is due by now; a tick has one distance."""
        detector = self._detector
        while self._brakes_us is None and self._looks * 1e6 <= driven_us * detector.rate_hz:
            self._looks += 1
            is_seen = self._chance.random() >= detector.miss
            if self._distance_m() > detector.range_m:
                continue
            self.missed += not is_seen
            if is_seen:
                self._brakes_us = now_us + round(detector.latency_s * 1e6)


def _stream(seed: int) -> str:
    return f"detector {seed}"


def driver_of(spec: Spec, obstacle: ObstacleAhead | None) -> BrakeForObstacle:
    """Return the driver of a case. Raises errors.UsageFault without an obstacle."""
    if obstacle is None:
        raise UsageFault(
            f"{BRAKE} brakes for an obstacle", expected="obstacle_m = 60.0 in the same case"
        )
    detector = Detector(
        spec["detector_range_m"] * spec["detector_weather"] * spec["detector_light"],
        spec["detector_miss"],
        spec["detector_rate_hz"],
        spec["detector_latency_ms"] * 1e-3,
    )
    return BrakeForObstacle(detector, obstacle.distance_m, spec["seed"])
