"""Compares cars that one session drives: the skew of their commands, and how far they are apart.

A board tells everybody what it knows of each session's clock. So an observer can put the reports of
two boards on one clock, live and from a log, without a session of its own.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from itertools import combinations

from host_bridge.cars.acceptance import Acceptance, AcceptanceReport, newest_common
from host_bridge.cars.car import ConnectedCar
from host_bridge.cars.divergence import Difference, Divergence, MotionSample
from host_bridge.core import CarMotion, CarStatus, ClockReport

_TIME_BITS = 30  # width of a session's clock on the wire, in us
Pose = tuple[float, float, float]  # x and y in m, yaw in rad


def ahead_us(time_us: int, other_us: int) -> int:
    """Return how far a wire time is ahead of another, across wraps; below 0 if it is behind."""
    half, whole = 1 << _TIME_BITS - 1, 1 << _TIME_BITS
    return (time_us - other_us + half) % whole - half


class SessionReports:
    """One car's reports, on the clock of the session whose claims it accepts."""

    def __init__(self, car: ConnectedCar) -> None:
        self.car = car
        self.epoch: int | None = None  # that session's
        self.acceptance = Acceptance()
        self.fresh: list[MotionSample] = []  # samples since the last comparison
        self._clocks: dict[int, ClockReport] = {}

    def hear(self, events: Iterable[object], now_us: int) -> None:
        """Take the link's events; all but status, motion and clocks are ignored."""
        for event in events:
            if isinstance(event, ClockReport):
                self._clocks[event.slot] = event
            elif isinstance(event, CarStatus):
                self._hear_status(event, now_us)
            elif isinstance(event, CarMotion):
                self._hear_motion(event, now_us)

    def clock_bound_ms(self) -> float | None:
        """Return how well the car knows the clock of the session that drives it, in ms."""
        status = self.car.status
        clock = self._clocks.get(status.claim_slot) if status and status.claim_count else None
        if clock is None or clock.bound_us is None:
            return None
        return round(clock.bound_us * 1e-3, 1)

    def is_armed(self) -> bool:
        return self.car.status is not None and self.car.status.state.is_armed

    def _hear_status(self, status: CarStatus, now_us: int) -> None:
        clock = self._clocks.get(status.claim_slot)
        if clock is None or not status.claim_count:
            return
        if clock.epoch != self.epoch:
            self.epoch, self.acceptance = clock.epoch, Acceptance()
        applied_us = None if status.applied_us is None else self._time(status.applied_us, now_us)
        self.acceptance.take(
            AcceptanceReport(
                status.claim_sequence, status.claim_count, status.claim_crc, applied_us
            )
        )

    def _hear_motion(self, motion: CarMotion, now_us: int) -> None:
        time_us = self._time(motion.captured_us, now_us)
        if time_us is None or self.car.status is None:
            return
        status = self.car.status
        pose = motion.x_m, motion.y_m, motion.yaw_rad
        self.fresh.append(
            MotionSample(time_us, status.steer_rad, status.speed_mps, motion.yaw_rate_radps, *pose)
        )

    def _time(self, board_us: int, now_us: int) -> int | None:
        """Return a board's time on the session's clock, nearest to ours.

        None while that is not known.
        """
        clock = self._clocks.get(self.car.status.claim_slot) if self.car.status else None
        if clock is None or clock.bound_us is None:
            return None
        return now_us + ahead_us(board_us + clock.offset_us, now_us)


class CarPair:
    """Two cars, compared while one session drives both."""

    def __init__(self, one: SessionReports, other: SessionReports) -> None:
        self.reports = one, other
        self._epoch: int | None = None
        self._was_armed = False
        self._divergence: Divergence | None = None
        self._twin_frame: Pose | None = None

    def is_driven_together(self) -> bool:
        one, other = self.reports
        are_online = one.car.is_online() and other.car.is_online()
        return are_online and one.epoch is not None and one.epoch == other.epoch

    def step(self) -> None:
        """Compare the new samples.

        Paths are measured from where both stood when they were armed.
        """
        one, other = self.reports
        if not self.is_driven_together() or other.car.vehicle is None:
            self._divergence = self._twin_frame = None
            return
        is_armed = one.is_armed() and other.is_armed()
        if (
            self._divergence is None
            or self._epoch != one.epoch
            or (is_armed and not self._was_armed)
        ):
            self._divergence = Divergence(other.car.vehicle.divergence)
            self._epoch = one.epoch
            self._twin_frame = _twin_frame(one.car.motion, other.car.motion)
        self._was_armed = is_armed
        for sample in one.fresh:
            self._divergence.car.add(sample)
        for sample in other.fresh:
            self._divergence.twin.add(sample)
        self._divergence.step()

    def row(self) -> dict[str, object]:
        """Return the row for the page: skew in ms, and each quantity with its unit and limit."""
        one, other = self.reports
        differences = self._divergence.differences if self._divergence else ()
        return {
            "car": one.car.name,
            "twin": other.car.name,
            "skew_ms": self._skew_ms(),
            "twin_frame": self._twin_frame,
            "differences": [_difference(it) for it in differences],
        }

    def _skew_ms(self) -> float | None:
        """Return the time between the two cars' applying of the newest claim that both applied."""
        common = newest_common([it.acceptance for it in self.reports])
        times = [it.applied_us for it in common or () if it.applied_us is not None]
        return round((max(times) - min(times)) * 1e-3, 2) if len(times) == 2 else None


class CarComparison:
    """All cars that are watched; each pair that one session drives has a row."""

    def __init__(self) -> None:
        self._reports: dict[str, SessionReports] = {}
        self._pairs: dict[tuple[str, str], CarPair] = {}

    def add(self, car: ConnectedCar) -> SessionReports:
        """Watch a car; return its reports, to which its link's events have to be given."""
        self.drop(car.name)
        self._reports[car.name] = SessionReports(car)
        ordered = sorted(self._reports.values(), key=_real_first)
        for one, other in combinations(ordered, 2):
            if car in (one.car, other.car):
                self._pairs[one.car.name, other.car.name] = CarPair(one, other)
        return self._reports[car.name]

    def drop(self, name: str) -> None:
        """Watch a car no longer."""
        self._reports.pop(name, None)
        self._pairs = {key: pair for key, pair in self._pairs.items() if name not in key}

    def step(self) -> None:
        """Compare what came since the last call."""
        for pair in self._pairs.values():
            pair.step()
        for reports in self._reports.values():
            reports.fresh.clear()

    def rows(self) -> list[dict[str, object]]:
        """Return a row for each pair that is driven together, the real car first."""
        return [pair.row() for pair in self._pairs.values() if pair.is_driven_together()]


def _twin_frame(car: CarMotion | None, twin: CarMotion | None) -> Pose | None:
    """Return where the twin's dead reckoning has its origin in the car's, so that both are at one
    place now; None while one of the two is not known."""
    if car is None or twin is None:
        return None
    turn_rad = car.yaw_rad - twin.yaw_rad
    cos, sin = math.cos(turn_rad), math.sin(turn_rad)
    x_m = car.x_m - (twin.x_m * cos - twin.y_m * sin)
    y_m = car.y_m - (twin.x_m * sin + twin.y_m * cos)
    return round(x_m, 3), round(y_m, 3), round(turn_rad, 4)


def _real_first(reports: SessionReports) -> tuple[bool, str]:
    identity = reports.car.identity
    return bool(identity and identity.is_virtual), reports.car.name


def _difference(it: Difference) -> dict[str, object]:
    return {
        "what": it.what,
        "unit": it.unit,
        "amount": round(it.amount, 4),
        "limit": it.limit,
        "differs": it.since_us is not None,
    }
