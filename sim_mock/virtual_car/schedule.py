"""The real-time schedule of a board's beats, and the handling of beats that are late."""

from __future__ import annotations

from typing import Protocol

STALL_US = 2_000_000  # chosen: after a longer stall of the host the car does not catch up
CATCH_UP_LIMIT_US = (
    100_000  # chosen: longer than any lease, so a later beat has stopped its car anyway
)


class ScheduledBoard(Protocol):
    """The part of a board that the schedule needs."""

    @property
    def interval_us(self) -> int:
        """The time from its last beat to the next."""

    @property
    def now_us(self) -> int: ...


class RealTimeSchedule:
    """The mapping of the host's clock to the car's; ``lost_us`` is the time lost so far.

    Missed beats are skipped, as on a board, and the plant makes up for them. A car that is too slow
    for its machine would never catch up: each beat would have more to do, and the host would get no
    turn. So if a beat that was to catch up leaves the next one just as late, or after a long stall,
    the car's clock loses that time.
    """

    def __init__(self, board: ScheduledBoard, now_us: int) -> None:
        self._board = board
        self._begun_us = now_us - board.now_us
        self._beat_us = board.now_us
        self._late_us = 0
        self.lost_us = 0

    def car_us(self, now_us: int) -> int:
        """Return the car's time."""
        return now_us - self._begun_us

    def next_us(self, now_us: int) -> int:
        """Return the host's time at which the next beat is due; in the past if it is late.

        Call it once per beat: each call advances the schedule.
        """
        interval_us = self._board.interval_us
        self._beat_us += interval_us
        late_us = self.car_us(now_us) - self._beat_us
        if late_us > STALL_US or late_us >= self._late_us > CATCH_UP_LIMIT_US:
            self._begun_us += late_us
            self.lost_us += late_us
            late_us = 0
        self._beat_us += max(late_us, 0) // interval_us * interval_us
        self._late_us = late_us
        return self._begun_us + self._beat_us
