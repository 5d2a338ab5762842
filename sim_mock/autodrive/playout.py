"""A playout buffer for the wheels' rotation: it turns jumps per frame into steady motion.

A frame tells how far the wheels have turned, not when; it arrives with the jitter of rendering,
network and two busy machines. Dividing by the time between two arrivals would measure that jitter.
So the rotation is played out a little later than it was received, at the rate that the simulator
reports, or that a tenth of a second of frames gives, and with a backlog large enough to last. It
never exceeds what was received: without frames the counts stand still.
"""

from __future__ import annotations

from collections import deque

Pair = tuple[float, float]

_GAP_MAX_S = 0.1  # a longer gap is played out in this time, and then it waits
_DELAY_MAX_S = 0.15  # of the backlog: more would be felt in the car's control loop
_LEARNS = 0.1  # weight of each new gap in the moving means of gap and jitter
_LEVELS_PER_S = 3.0  # rate at which the backlog returns to its target length
_WINDOW_S = 0.2  # chosen: 6 frames at 30 Hz; a hundredth of a second of jitter is 5 % of it
_SHORT_S = 0.07  # two frames at 30 Hz: a gap up to that is none
_AGREES = 0.35  # if body and wheel speed differ by more than this share the wheels slide
_SLOW_RADPS = 1.0


class PlayoutBuffer:
    """The playout buffer of the left and the right wheel.

    ``shown_rad`` and ``heard_rad`` are left's and right's rotation since the beginning, as played
    out and as received; ``rate_radps`` is the present speed of both wheels together.
    """

    def __init__(self) -> None:
        self.shown_rad: Pair = (0.0, 0.0)
        self.heard_rad: Pair = (0.0, 0.0)
        self.rate_radps = 0.0
        self._rates_radps: Pair = (0.0, 0.0)
        self._gap_s = self._jitter_s = 0.0
        self._heard: deque[tuple[float, Pair]] = deque()

    def stop(self) -> None:
        """Discard what was received and not yet played out, as no more frames come."""
        self.heard_rad = self.shown_rad
        self.rate_radps, self._rates_radps = 0.0, (0.0, 0.0)
        self._heard.clear()
        self._gap_s = self._jitter_s = 0.0

    def step(self, dt_s: float) -> None:
        """Play out ``dt_s`` more of the rotation."""
        left, right = (
            _towards(shown, heard, rate * dt_s)
            for shown, heard, rate in zip(
                self.shown_rad, self.heard_rad, self._rates_radps, strict=True
            )
        )
        self.shown_rad = (left, right)

    def hear(self, turned_rad: Pair, at_s: float, reported_radps: float | None) -> None:
        """Take the rotation since the previous frame.

        ``reported_radps`` is the simulator's own speed as a wheel speed, without a sign.
        """
        left, right = self.heard_rad
        self.heard_rad = (left + turned_rad[0], right + turned_rad[1])
        if self._heard:
            self._learn(min(max(at_s - self._heard[-1][0], 0.0), _GAP_MAX_S))
        self._heard.append((at_s, self.heard_rad))
        while len(self._heard) > 2 and at_s - self._heard[0][0] > _WINDOW_S:
            self._heard.popleft()
        self._set_rates(reported_radps)

    def _learn(self, gap_s: float) -> None:
        if not self._gap_s:
            self._gap_s = gap_s
        self._gap_s += _LEARNS * (gap_s - self._gap_s)
        self._jitter_s += _LEARNS * (abs(gap_s - self._gap_s) - self._jitter_s)

    def _set_rates(self, reported_radps: float | None) -> None:
        long, short = self._measured(_WINDOW_S), self._measured(_SHORT_S)
        mean, lately = 0.5 * sum(long), 0.5 * sum(short)
        turning = lately if reported_radps is None else _reported(reported_radps, lately)
        self.rate_radps = mean if reported_radps is None else turning
        if not any(short):  # it stands: the rest is played out within a frame
            self.rate_radps = 0.0
        delay_s = min(self._gap_s + 2.0 * self._jitter_s, _DELAY_MAX_S)
        self._rates_radps = (
            self._rate(0, self.rate_radps + long[0] - mean, delay_s),
            self._rate(1, self.rate_radps + long[1] - mean, delay_s),
        )

    def _rate(self, side: int, turns_radps: float, delay_s: float) -> float:
        backlog_rad = self.heard_rad[side] - self.shown_rad[side]
        if self.rate_radps == 0.0:
            return backlog_rad / max(self._gap_s, 1e-3)  # s: before the first gap is known
        return turns_radps + _LEVELS_PER_S * (backlog_rad - turns_radps * delay_s)

    def _measured(self, window_s: float) -> Pair:
        """Return both speeds in rad/s over the last ``window_s``, or over the last two frames."""
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
    """Advance by ``way``, but not beyond ``heard``."""
    if way > 0.0:
        return min(shown + way, heard) if shown < heard else shown
    return max(shown + way, heard) if shown > heard else shown


def _reported(reported_radps: float, measured_radps: float) -> float:
    """Return the simulator's speed with the wheels' sign, if the wheels turn about as fast."""
    size = abs(measured_radps)
    if abs(reported_radps - size) > _AGREES * max(reported_radps, size) + _SLOW_RADPS:
        return measured_radps
    return reported_radps if measured_radps >= 0.0 else -reported_radps
