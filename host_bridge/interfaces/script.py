"""Manoeuvres, and the player that drives a fleet through one with a deadman in hand.

A manoeuvre is pure: steering and speed as a function of its own time. That time stands still while
the deadman is released, and goes on after a moment in neutral, as the cars demand.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from host_bridge.domain import Input, Wish

# Held in neutral before driving (on): a few steps of the car, and as many lost frames
NEUTRAL_US = 100_000
_LONGEST_READ_US = 50_000  # a stall of the host does not skip a part of the manoeuvre


class Manoeuvre(Protocol):
    """What is driven. Steering to the left in rad, speed in m/s."""

    @property
    def duration_s(self) -> float: ...

    def at(self, time_s: float) -> tuple[float, float]:
        """(steer_rad, speed_mps) at a time from 0 to ``duration_s``."""


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
class InTurn:
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


class Player:
    """Plays a manoeuvre once, from ``start`` on.

    The deadman is ``person``'s; without one it is scripted, which is for virtual cars only. Until
    it is started, and after the end, everything is let go.
    """

    def __init__(self, manoeuvre: Manoeuvre, person: Input | None = None) -> None:
        self.manoeuvre = manoeuvre
        self.position_s = 0.0
        self.is_started = False
        self._person = person
        self._reads = 0
        self._read_us = 0
        self._drive_us: int | None = None  # from when on it drives, once the deadman is held

    def start(self) -> None:
        self.is_started = True

    def is_over(self) -> bool:
        return self.position_s >= self.manoeuvre.duration_s

    def read(self, now_us: int) -> Wish:
        span_us = min(now_us - self._read_us, _LONGEST_READ_US)
        self._read_us = now_us
        self._reads += 1
        hand = self._person.read(now_us) if self._person else Wish(is_held=True)
        count = hand.input_count if self._person else self._reads
        if not self.is_started or self.is_over() or not hand.is_held:
            self._drive_us = None
            return Wish(input_count=count)
        if self._drive_us is None:
            self._drive_us = now_us + NEUTRAL_US
        is_driving = now_us >= self._drive_us
        steer_rad, speed_mps = self.manoeuvre.at(self.position_s)
        if is_driving:
            self.position_s += span_us * 1e-6
        return Wish(
            steer_rad=steer_rad,
            speed_mps=speed_mps if is_driving else 0.0,
            is_held=True,
            input_count=count,
        )
