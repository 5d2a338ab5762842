"""Clock synchronisation, host side: which Status to answer with a Sync, and when.

The board measures a round trip from its Status to the step in which it reads our Sync, and
subtracts the time for which we held the answer back. It reads only once a step. So an answer that
arrives just after a step waits for the next one, and that wait, up to a whole step, counts as round
trip. Therefore the hold is varied from answer to answer, evenly over the step by multiples of the
golden ratio, until one arrives just before a step. The board keeps the shortest round trip, and
adds 100 us to its uncertainty for each second since (firmware/core/clock.py).

A session may run by another car's clock, which we know only within a bound. The answer then names
the latest moment at which the Status may have arrived, and the earliest at which the answer may
have been sent. The board takes the time between the two for the hold, so its uncertainty grows by
our bound.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

from host_bridge.core.board_time import TIME_MASK, elapsed_us
from host_bridge.core.reports import ClockReport
from host_bridge.link.protocol.session_time import HostTime, SessionTime

_GOLDEN = 0.6180339887498949  # its multiples modulo 1 fill [0, 1) evenly
_GOOD_BOUND_US = 1_500  # what a slow board's line and its polling before each step amount to
_HURRY_US = 20_000  # between answers until the bound is good, or gets no better
_EASY_US = 100_000  # between answers then: in it a crystal of 100 ppm drifts by 10 us
_SETTLED_US = 2_000_000  # of hurry without a better bound: so long is the path, and no shorter
_DEFAULT_STEP_US = 10_000  # until a car has told: most cars' control period
_SHORTEST_STEP_US = 1_000  # firmware/core/settings/params.py
_LONGEST_STEP_US = 20_000  # firmware/core/settings/params.py
_SPANS = 15  # odd, for a median; a third of a second at most
_RESTART_US = 1_000_000  # beyond any delay in a buffer on the way


@dataclass(frozen=True, slots=True)
class StatusEcho:
    """A Status's stamp, its arrival, and the sending of its answer, all modulo 2**30 us."""

    board_us: int
    received_us: int
    sent_us: int


class ClockSync:
    """The schedule of the answers, and the offset and the bound that the board computed."""

    def __init__(self, time: SessionTime | None = None) -> None:
        self.offset_us: int | None = None
        self.bound_us: int | None = None
        self.step_us = _DEFAULT_STEP_US
        self.due_us: int | None = None  # when the next answer has to be sent
        self._time = time or HostTime()
        self._phase = 0.0
        self._next_us: int | None = None
        self._least_us: int | None = None  # the best bound, and when it was first seen
        self._bettered_us = 0
        self._board_us = 0
        self._received_us = 0
        self._last_board_us: int | None = None
        self._spans_us: deque[int] = deque(maxlen=_SPANS)

    def hear_status(self, board_us: int, now_us: int) -> None:
        """Take a Status; plan to answer it if an answer is due."""
        self._measure_step(board_us)
        unsure_us = self._time.bound_us
        if self.due_us is not None or (self._next_us is not None and now_us < self._next_us):
            return
        if unsure_us is None:
            return
        self._board_us = board_us
        self._received_us = now_us
        self.due_us = now_us + 2 * unsure_us + int(self._phase * self.step_us)
        self._phase = (self._phase + _GOLDEN) % 1
        is_easy = self.is_good() or self._is_settled(now_us)
        self._next_us = now_us + (_EASY_US if is_easy else _HURRY_US)

    def _is_settled(self, now_us: int) -> bool:
        """Return whether hurrying has not made the bound better for a while."""
        if self.bound_us is None:
            return False
        if self._least_us is None or self.bound_us < self._least_us:
            self._least_us, self._bettered_us = self.bound_us, now_us
        return now_us - self._bettered_us > _SETTLED_US

    def _measure_step(self, board_us: int) -> None:
        """Estimate the control period as the median of the last spans between statuses.

        Some spans are longer because of losses, some shorter when a delayed car catches up.
        """
        if self._last_board_us is not None:
            self._spans_us.append(elapsed_us(board_us, self._last_board_us))
            middle_us = sorted(self._spans_us)[len(self._spans_us) // 2]
            self.step_us = min(max(middle_us, _SHORTEST_STEP_US), _LONGEST_STEP_US)
        self._last_board_us = board_us

    def is_good(self) -> bool:
        given_us = self._time.bound_us
        if self.bound_us is None or given_us is None:
            return False
        return self.bound_us - given_us <= _GOOD_BOUND_US

    def hear_report(self, report: ClockReport) -> None:
        self.offset_us = report.offset_us
        self.bound_us = report.bound_us

    def echo(self, now_us: int) -> StatusEcho | None:
        """Return the answer to send now, or None."""
        if self.due_us is None or now_us < self.due_us:
            return None
        self.due_us = None
        unsure_us = self._time.bound_us
        if unsure_us is None or now_us - self._received_us < 2 * unsure_us:
            return None
        received_us = self._time.session_us(self._received_us) + unsure_us
        sent_us = self._time.session_us(now_us) - unsure_us
        return StatusEcho(self._board_us, received_us & TIME_MASK, sent_us & TIME_MASK)

    def host_us(self, board_us: int, near_us: int) -> int | None:
        """Return a board time on our clock, nearest to ``near_us``; None without an offset."""
        if self.offset_us is None or self.bound_us is None:
            return None
        return self._time.host_us(board_us + self.offset_us & TIME_MASK, near_us)


class RestartDetector:
    """The detector of a board's restart, by its clock."""

    def __init__(self) -> None:
        self._ahead_us: int | None = None  # lead over ours; the most ever seen is the least delay
        self._last_us = 0

    def has_restarted(self, board_us: int, now_us: int) -> bool:
        """Take one of the board's stamps; return True if its clock began anew.

        Delayed stamps fall behind ours; none runs ahead.
        """
        ahead_us = elapsed_us(board_us, now_us)
        if self._ahead_us is not None:
            gained_us = elapsed_us(ahead_us, self._ahead_us)
            onward_us = elapsed_us(board_us, self._last_us)
            if gained_us > _RESTART_US or onward_us < -_RESTART_US:
                return True
            if gained_us < 0:
                ahead_us = self._ahead_us
        self._ahead_us = ahead_us
        self._last_us = board_us
        return False
