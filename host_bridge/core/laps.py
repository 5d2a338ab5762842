"""A lap counter: laps over a line through a car's start, from its true position."""

from __future__ import annotations

from math import cos, hypot, sin

_HALF_M = 2.0  # chosen: half the length of the line
_BEGINS_M = 0.05  # more than the noise of a pose at rest: from then on the first lap is timed
_AWAY_M = 3.0  # a lap counts only after the car was this far from the start,
_AWAY_WHEELBASES = 10.0  # or this many wheelbases, if that is less: a Nigel's oval is 4 m long


class Laps:
    """The laps of one car: ``count``, and ``time_s`` of the current lap, in s.

    The first lap begins when the car leaves its start.
    """

    def __init__(
        self,
        x_m: float,
        y_m: float,
        yaw_rad: float,
        wheelbase_m: float = 1.0,
        *,
        away_m: float = _AWAY_M,
    ) -> None:
        """Take the start pose.

        The line is perpendicular to its heading and is crossed in that direction. A lap counts
        only after the car was ``away_m`` from the start, or less for a small car.
        """
        self._away_m = min(away_m, _AWAY_M, _AWAY_WHEELBASES * wheelbase_m)
        self._x_m, self._y_m = x_m, y_m
        self._along = cos(yaw_rad), sin(yaw_rad)
        self.count = 0
        self.time_s = self.last_s = self.best_s = 0.0
        self._begun_us: int | None = None
        self._before_m = 0.0
        self._was_away = False

    def step(self, x_m: float, y_m: float, now_us: int) -> None:
        """Take the car's position at this time, and count a lap when it crosses the line."""
        dx, dy = x_m - self._x_m, y_m - self._y_m
        ahead_m = dx * self._along[0] + dy * self._along[1]
        aside_m = dy * self._along[0] - dx * self._along[1]
        if self._begun_us is None:
            if hypot(dx, dy) < _BEGINS_M:
                return
            self._begun_us = now_us
        self._was_away |= hypot(dx, dy) > self._away_m
        self.time_s = (now_us - self._begun_us) * 1e-6
        if self._was_away and self._before_m < 0.0 <= ahead_m and abs(aside_m) < _HALF_M:
            self._end(now_us)
        self._before_m = ahead_m

    def _end(self, now_us: int) -> None:
        self.count += 1
        self.last_s = self.time_s
        self.best_s = min(self.best_s or self.last_s, self.last_s)
        self._begun_us, self.time_s, self._was_away = now_us, 0.0, False
