"""Wheels' turning between frames: what was heard in jumps, shown as steadily as it happened.

A frame says how far the wheels have turned, not when; it comes late by whatever rendering, the
network and two busy machines made of it. To divide by the time between two arrivals is to measure
those. So the turning is shown a little later than it was heard, at the rate that the simulator
says, or that a tenth of a second of frames gives, and so much of it is kept back that it lasts.
Never more than was heard is shown: without frames the counts stand still.
"""

from __future__ import annotations

from collections import deque

Pair = tuple[float, float]

_GAP_MAX_S = 0.1  # frames that come more rarely are shown as fast as this, and then it waits
_DELAY_MAX_S = 0.15
_LEARNS = 0.1  # of each new gap, in the mean of the gaps and of how far they are off
_LEVELS_PER_S = 3.0  # how fast the backlog comes back to its length
_WINDOW_S = 0.2  # chosen: 6 frames at 30 Hz; a hundredth of a second of jitter is 5 % of it
_SHORT_S = 0.07
_AGREES = 0.35  # a body's speed this far from its wheels' is no measure of them: they slide
_SLOW_RADPS = 1.0


class Playout:
    """``shown_rad`` and ``heard_rad`` are left's and right's turning since the beginning;
    ``rate_radps`` is how fast the wheels turn, both taken together."""

    def __init__(self) -> None:
        self.shown_rad: Pair = (0.0, 0.0)
        self.heard_rad: Pair = (0.0, 0.0)
        self.rate_radps = 0.0
        self._rates_radps: Pair = (0.0, 0.0)
        self._gap_s = self._jitter_s = 0.0
        self._heard: deque[tuple[float, Pair]] = deque()

    def stop(self) -> None:
        """No more frames: what was heard and not shown yet never happened."""
        self.heard_rad = self.shown_rad
        self.rate_radps, self._rates_radps = 0.0, (0.0, 0.0)
        self._heard.clear()
        self._gap_s = self._jitter_s = 0.0

    def step(self, dt_s: float) -> None:
        """Show ``dt_s`` more of it."""
        left, right = (
            _towards(shown, heard, rate * dt_s)
            for shown, heard, rate in zip(
                self.shown_rad, self.heard_rad, self._rates_radps, strict=True
            )
        )
        self.shown_rad = (left, right)

    def hear(self, turned_rad: Pair, at_s: float, said_radps: float | None) -> None:
        """The turning since the frame before; ``said_radps``: the simulator's own speed, without
        a sign, on the wheels' radius."""
        left, right = self.heard_rad
        self.heard_rad = (left + turned_rad[0], right + turned_rad[1])
        if self._heard:
            self._learn(min(max(at_s - self._heard[-1][0], 0.0), _GAP_MAX_S))
        self._heard.append((at_s, self.heard_rad))
        while len(self._heard) > 2 and at_s - self._heard[0][0] > _WINDOW_S:
            self._heard.popleft()
        self._set_rates(said_radps)

    def _learn(self, gap_s: float) -> None:
        if not self._gap_s:
            self._gap_s = gap_s
        self._gap_s += _LEARNS * (gap_s - self._gap_s)
        self._jitter_s += _LEARNS * (abs(gap_s - self._gap_s) - self._jitter_s)

    def _set_rates(self, said_radps: float | None) -> None:
        long, short = self._measured(_WINDOW_S), self._measured(_SHORT_S)
        mean, lately = 0.5 * sum(long), 0.5 * sum(short)
        turning = lately if said_radps is None else _said(said_radps, lately)
        self.rate_radps = mean if said_radps is None else turning
        if not any(short):  # it stands: what is left is shown within a frame
            self.rate_radps = 0.0
        delay_s = min(self._gap_s + 2.0 * self._jitter_s, _DELAY_MAX_S)
        self._rates_radps = (
            self._rate(0, self.rate_radps + long[0] - mean, delay_s),
            self._rate(1, self.rate_radps + long[1] - mean, delay_s),
        )

    def _rate(self, side: int, turns_radps: float, delay_s: float) -> float:
        backlog_rad = self.heard_rad[side] - self.shown_rad[side]
        if self.rate_radps == 0.0:
            return backlog_rad / max(self._gap_s, 1e-3)
        return turns_radps + _LEVELS_PER_S * (backlog_rad - turns_radps * delay_s)

    def _measured(self, window_s: float) -> Pair:
        """Of the frames of the last ``window_s``, or of the last two; rad/s."""
        at_s, (left, right) = self._heard[-1]
        first_s, first = self._heard[-2] if len(self._heard) > 1 else self._heard[-1]
        for one_s, one in self._heard:
            if at_s - one_s <= window_s and one_s < first_s:
                first_s, first = one_s, one
        took_s = at_s - first_s
        if took_s <= 0.0:
            return 0.0, 0.0
        return (left - first[0]) / took_s, (right - first[1]) / took_s


def _towards(shown: float, heard: float, way: float) -> float:
    """On by ``way``, to what was heard at most."""
    if way > 0.0:
        return min(shown + way, heard) if shown < heard else shown
    return max(shown + way, heard) if shown > heard else shown


def _said(said_radps: float, measured_radps: float) -> float:
    """The simulator's speed with the wheels' sign, where the wheels turn about as fast."""
    size = abs(measured_radps)
    if abs(said_radps - size) > _AGREES * max(said_radps, size) + _SLOW_RADPS:
        return measured_radps
    return said_radps if measured_radps >= 0.0 else -said_radps
