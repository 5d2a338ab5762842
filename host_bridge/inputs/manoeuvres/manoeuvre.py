"""Manoeuvres: steering and speed as pure functions of their own time."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol


class Manoeuvre(Protocol):
    """A manoeuvre as a function of time: steering to the left in rad, speed in m/s."""

    @property
    def duration_s(self) -> float: ...

    def at(self, time_s: float) -> tuple[float, float]:
        """Return (steer_rad, speed_mps) at a time from 0 to ``duration_s``."""


@dataclass(frozen=True)
class Constant:
    """One steering angle, one speed: a straight line, or a skidpad."""

    speed_mps: float
    duration_s: float
    steer_rad: float = 0.0

    def at(self, time_s: float) -> tuple[float, float]:
        return self.steer_rad, self.speed_mps


@dataclass(frozen=True)
class Slalom:
    """Sinusoidal steering at a constant speed, the first bend to the left."""

    speed_mps: float
    duration_s: float
    steer_rad: float  # amplitude
    period_s: float

    def at(self, time_s: float) -> tuple[float, float]:
        return self.steer_rad * math.sin(math.tau * time_s / self.period_s), self.speed_mps


@dataclass(frozen=True)
class ManoeuvreSequence:
    """Manoeuvres one after the other."""

    parts: Sequence[Manoeuvre]

    @property
    def duration_s(self) -> float:
        return sum(part.duration_s for part in self.parts)

    def at(self, time_s: float) -> tuple[float, float]:
        for part in self.parts[:-1]:
            if time_s < part.duration_s:
                return part.at(time_s)
            time_s -= part.duration_s
        return self.parts[-1].at(time_s)
