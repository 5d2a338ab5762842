"""The clock that a session runs by: ours, or that of a car whose own claims other cars follow.

Times are microseconds; a session's are compared modulo 2**30 only.
"""

from __future__ import annotations

from typing import Protocol

from host_bridge.core.board_time import unwrapped_us


class SessionTime(Protocol):
    """The conversion between our time and a session's.

    ``bound_us`` is the uncertainty of the conversion, None while it is not known.
    """

    @property
    def bound_us(self) -> int | None: ...

    def session_us(self, host_us: int) -> int:
        """Convert our time into the session's."""

    def host_us(self, session_us: int, near_us: int) -> int | None:
        """Convert the session's time into ours, nearest to ``near_us``; None if it is not known."""


class HostTime:
    """A session that runs by our own clock."""

    bound_us = 0

    def session_us(self, host_us: int) -> int:
        return host_us

    def host_us(self, session_us: int, near_us: int) -> int | None:
        return unwrapped_us(session_us, near_us)


class BoardClock(Protocol):
    """The part of ``clock_sync.ClockSync`` that is needed here; that module imports this one."""

    offset_us: int | None
    bound_us: int | None

    def host_us(self, board_us: int, near_us: int) -> int | None: ...


class BoardLink(Protocol):
    """The part of ``connection.Connection`` that is needed here.

    Its clock is another object after each interruption.
    """

    @property
    def clock(self) -> BoardClock: ...


class BoardTime:
    """A session that runs by the clock of another car's board, as that car's own link knows it."""

    def __init__(self, link: BoardLink) -> None:
        self._link = link

    @property
    def bound_us(self) -> int | None:
        return self._link.clock.bound_us

    def session_us(self, host_us: int) -> int:
        return host_us - (self._link.clock.offset_us or 0)

    def host_us(self, session_us: int, near_us: int) -> int | None:
        return self._link.clock.host_us(session_us, near_us)
