"""What a check says: it held, it did not, or nothing was shown; and by what of the machine."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple, Protocol


class Verdict(Enum):
    """Three values: neither is a limit kept where nobody could see it, nor is it broken."""

    OK = "ok"
    FAIL = "fail"
    NOT_SHOWN = "not shown"


class Ruling(NamedTuple):
    """A verdict, and why, of all that is not ok."""

    verdict: Verdict
    reason: str = ""


class Machine(Protocol):
    """What ``witness.Witness`` tells of a machine, in seconds of its monotonic time."""

    def granted_s(self, begun_s: float, ended_s: float | None = None) -> float: ...

    def late_s(self, begun_s: float, ended_s: float | None = None) -> float: ...

    def worst_wake_s(self, begun_s: float, ended_s: float | None = None) -> float: ...


class Punctual:
    """Virtual time as a machine: it gives all that is asked for, and nothing in it is ever late."""

    def granted_s(self, begun_s: float, ended_s: float | None = None) -> float:
        """All of it."""
        assert ended_s is not None, "virtual time is told, not asked for"
        return ended_s - begun_s

    def late_s(self, begun_s: float, ended_s: float | None = None) -> float:
        """Never."""
        return 0.0

    def worst_wake_s(self, begun_s: float, ended_s: float | None = None) -> float:
        """Never."""
        return 0.0


OK = Ruling(Verdict.OK)
# A car stops by itself 120 ms after the last claim. A host that was late by two thirds of that, in
# the half second before, may have been late by all of it: the witness is not the host.
_STOPS_A_CAR_S = 0.08
_JUST_BEFORE_S = 0.5
_ENDS_A_DRIVER_S = 0.5  # it waits for its car 3 s at least


def fails(reason: str = "") -> Ruling:
    """It did not hold."""
    return Ruling(Verdict.FAIL, reason)


def missing(what: str) -> Ruling:
    """Nobody can tell: ``what`` is not there to be looked at."""
    return Ruling(Verdict.NOT_SHOWN, f"the evidence is missing: {what}")


def late(late_s: float) -> Ruling:
    """Nobody can tell: it may have been this machine."""
    return Ruling(Verdict.NOT_SHOWN, f"the machine was {late_s * 1000:.0f} ms late")


def by_time(over_s: float, late_s: float) -> Ruling:
    """Judge what came ``over_s`` after its limit on a machine that was ``late_s`` late."""
    if over_s <= 0:
        return OK
    return late(late_s) if over_s <= late_s else fails()


def ended_by_itself(machine: Machine, since_s: float, at_s: float, reason: str) -> Ruling:
    """Judge a program that ended, or a wait that went wrong, where all was well."""
    late_s = machine.late_s(since_s, at_s)
    return late(late_s) if late_s >= _ENDS_A_DRIVER_S else fails(reason)


def stopped_by_itself(machine: Machine, at_s: float, reason: str) -> Ruling:
    """Judge a car that stopped while all was well, as it does where its host is late."""
    late_s = machine.late_s(max(at_s - _JUST_BEFORE_S, 0.0), at_s)
    return late(late_s) if late_s >= _STOPS_A_CAR_S else fails(reason)
