"""Link statistics: rates, rejected frames, gaps, round trips."""

from __future__ import annotations

from collections import Counter, deque

from host_bridge.core.board_time import elapsed_us

_ROUND_TRIPS = 256  # at one a second, those of the last four minutes
_ASKED = 16  # questions that may still be answered: at one a second, those of 16 s


class LinkStatistics:
    """The statistics of a link; ``heard`` counts messages by name, ``rejected`` frames by kind."""

    def __init__(self) -> None:
        self.bytes_out = 0
        self.heard: Counter[str] = Counter()
        self.rejected: Counter[str] = Counter()
        self.missed_statuses = 0
        self.rates_hz: dict[str, float] = {}
        self._before: Counter[str] = Counter()
        self._since_us: int | None = None
        self._last_status_us: int | None = None
        self._asked: dict[int, int] = {}
        self._round_trips_us: deque[int] = deque(maxlen=_ROUND_TRIPS)

    def step(self, now_us: int) -> None:
        """Update the rates; called once a second."""
        span_us = now_us - (now_us if self._since_us is None else self._since_us)
        if span_us > 0:
            news = self.heard - self._before
            self.rates_hz = {name: count * 1e6 / span_us for name, count in news.items()}
        self._before = self.heard.copy()
        self._since_us = now_us

    def hear_status(self, board_us: int, step_us: int) -> None:
        """Count the statuses that should have come between the last and this one."""
        if self._last_status_us is not None:
            steps = round(elapsed_us(board_us, self._last_status_us) / step_us)
            self.missed_statuses += max(steps - 1, 0)
        self._last_status_us = board_us

    def interrupt(self) -> None:
        """Note that the link was lost, so that what follows does not count as a gap."""
        self._last_status_us = None
        self._asked.clear()

    def ask(self, token: int, now_us: int) -> None:
        self._asked[token] = now_us
        if len(self._asked) > _ASKED:
            del self._asked[next(iter(self._asked))]

    def answer(self, token: int, now_us: int) -> None:
        asked_us = self._asked.pop(token, None)
        if asked_us is not None:
            self._round_trips_us.append(now_us - asked_us)

    def round_trip_us(self, percentile: float) -> int | None:
        """Return this percentile of the round trips in us; None before the first."""
        if not self._round_trips_us:
            return None
        ordered = sorted(self._round_trips_us)
        return ordered[min(int(len(ordered) * percentile / 100), len(ordered) - 1)]
