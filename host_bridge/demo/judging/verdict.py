"""Verdicts of checks: held, failed, or not shown; and the machine's part in them."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple, Protocol


class Verdict(Enum):
    """A three-valued verdict: a limit that nobody could see is neither kept nor broken."""

    OK = "ok"
    FAIL = "fail"
    NOT_SHOWN = "not shown"


class Ruling(NamedTuple):
    """A verdict, and the reason for any that is not OK."""

    verdict: Verdict
    reason: str = ""


class MachineTiming(Protocol):
    """The part of ``LatencyProbe`` that verdicts need; times are monotonic seconds."""

    def granted_s(self, begun_s: float, ended_s: float | None = None) -> float: ...

    def late_s(self, begun_s: float, ended_s: float | None = None) -> float: ...

    def worst_wake_s(self, begun_s: float, ended_s: float | None = None) -> float: ...


class PunctualTiming:
    """Virtual time as a machine: it grants all time, and nothing in it is ever late."""

    def granted_s(self, begun_s: float, ended_s: float | None = None) -> float:
        """Return all of this time."""
        assert ended_s is not None, "virtual time is told, not asked for"
        return ended_s - begun_s

    def late_s(self, begun_s: float, ended_s: float | None = None) -> float:
        """Return 0."""
        return 0.0

    def worst_wake_s(self, begun_s: float, ended_s: float | None = None) -> float:
        """Return 0."""
        return 0.0


OK = Ruling(Verdict.OK)
# A car stops by itself 120 ms after the last claim. A host that was late by two thirds of that in
# the half second before may have been late by all of it, since the probe is another process.
_STOPS_A_CAR_S = 0.08
_JUST_BEFORE_S = 0.5
_ENDS_A_DRIVER_S = 0.5  # a driver waits for its car for at least 3 s


def fails(reason: str = "") -> Ruling:
    """Return the ruling that it failed."""
    return Ruling(Verdict.FAIL, reason)


def missing(what: str) -> Ruling:
    """Return the ruling that nobody can tell, because ``what`` is missing."""
    return Ruling(Verdict.NOT_SHOWN, f"the evidence is missing: {what}")


def late(late_s: float) -> Ruling:
    """Return the ruling that nobody can tell, because the machine was so late."""
    return Ruling(Verdict.NOT_SHOWN, f"the machine was {late_s * 1000:.0f} ms late")


def by_time(over_s: float, late_s: float) -> Ruling:
    """Judge what came ``over_s`` after its limit on a machine that was ``late_s`` late."""
    if over_s <= 0:
        return OK
    return late(late_s) if over_s <= late_s else fails()


def ended_by_itself(machine: MachineTiming, since_s: float, at_s: float, reason: str) -> Ruling:
    """Judge a program that ended, or a wait that failed, without a fault."""
    late_s = machine.late_s(since_s, at_s)
    return late(late_s) if late_s >= _ENDS_A_DRIVER_S else fails(reason)


def stopped_by_itself(machine: MachineTiming, at_s: float, reason: str) -> Ruling:
    """Judge a car that stopped without a fault, as it does if its host is late."""
    late_s = machine.late_s(max(at_s - _JUST_BEFORE_S, 0.0), at_s)
    return late(late_s) if late_s >= _STOPS_A_CAR_S else fails(reason)
