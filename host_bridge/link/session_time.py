"""Whose clock a session runs by: ours, or that of a car whose own claims another one follows.

Times are microseconds; a session's are compared modulo 2**30 only.
"""

from __future__ import annotations

from typing import Protocol

from host_bridge.link.units import unwrapped_us


class SessionTime(Protocol):
    """``bound_us`` is how wrong the conversions may be; None while they are not known."""

    @property
    def bound_us(self) -> int | None: ...

    def session_us(self, host_us: int) -> int:
        """Our time in the session's."""

    def host_us(self, session_us: int, near_us: int) -> int | None:
        """The session's time in ours, nearest to ``near_us``; None while it is not known."""


class HostTime:
    """Our own clock."""

    bound_us = 0

    def session_us(self, host_us: int) -> int:
        return host_us

    def host_us(self, session_us: int, near_us: int) -> int | None:
        return unwrapped_us(session_us, near_us)


class BoardClock(Protocol):
    """``clock_sync.ClockSync``, which needs this file."""

    offset_us: int | None
    bound_us: int | None

    def host_us(self, board_us: int, near_us: int) -> int | None: ...


class BoardLink(Protocol):
    """``connection.Connection``: its clock is another object after each interruption."""

    @property
    def clock(self) -> BoardClock: ...


class BoardTime:
    """The clock of another car's board, as that car's own link knows it."""

    def __init__(self, link: BoardLink) -> None:
        self._link = link

    @property
    def bound_us(self) -> int | None:
        return self._link.clock.bound_us

    def session_us(self, host_us: int) -> int:
        return host_us - (self._link.clock.offset_us or 0)

    def host_us(self, session_us: int, near_us: int) -> int | None:
        return self._link.clock.host_us(session_us, near_us)
