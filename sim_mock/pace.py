"""When a board's beats are due by a clock, and what becomes of those that are late."""

from __future__ import annotations

from typing import Protocol

STALL_US = 2_000_000  # chosen: a host that stood still for longer has left its car's time behind
HOPE_US = 100_000  # chosen: shorter than any lease, so what is later has stopped its car anyway


class Beats(Protocol):
    """A board, as far as its pace goes."""

    @property
    def interval_us(self) -> int:
        """From its last beat to the next."""

    @property
    def now_us(self) -> int: ...


class Pace:
    """The car's clock by the host's ``now_us``; ``lost_us`` is how much of it is lost so far.

    Beats that were missed are missed, as on a board, and the plant makes up for them. One that is
    too slow for its machine would never catch up, with more to do each time and no turn left for
    anybody else. So where a beat that was to catch up leaves the next one as late, or after a long
    stall, the car's clock loses that time.
    """

    def __init__(self, board: Beats, now_us: int) -> None:
        self._board = board
        self._begun_us = now_us - board.now_us
        self._beat_us = board.now_us
        self._late_us = 0
        self.lost_us = 0

    def car_us(self, now_us: int) -> int:
        """The car's time."""
        return now_us - self._begun_us

    def next_us(self, now_us: int) -> int:
        """When the next beat is due, by the host's clock; in the past if it is late."""
        interval_us = self._board.interval_us
        self._beat_us += interval_us
        late_us = self.car_us(now_us) - self._beat_us
        if late_us > STALL_US or late_us >= self._late_us > HOPE_US:
            self._begun_us += late_us
            self.lost_us += late_us
            late_us = 0
        self._beat_us += max(late_us, 0) // interval_us * interval_us
        self._late_us = late_us
        return self._begun_us + self._beat_us
