"""The limits of a stop, and the verdict on one."""

from __future__ import annotations

from dataclasses import dataclass

from host_bridge.core.texts.table import TEXTS, clause
from host_bridge.demo.judging.verdict import (
    MachineTiming,
    Ruling,
    Verdict,
    by_time,
    fails,
    stopped_by_itself,
)
from host_bridge.demo.trace import MeasuredStop

BRAKES_MPS2 = 4.0  # the least mean deceleration of braking, from the first step to standstill
_FADES_S = 0.4  # an ESC's brake fades with the speed, so the last decimetre takes long
_STEP_S = 0.03  # one period to notice, one of the trace, one of slack
# The causes for which a car stops if its host is late with claims, or its own steps are late
OF_LATENESS = ("SILENCE", "CLOCK_STEP", "OVERRUN")


@dataclass(frozen=True)
class StopLimits:
    """The limits for a stop: reaction time, time and distance to standstill."""

    reaction_s: float
    seconds: float
    metres: float

    @classmethod
    def of(cls, reaction_s: float, speed_mps: float) -> StopLimits:
        """Return the limits: the reaction at full speed, then the brake."""
        react_s = reaction_s + _STEP_S
        return cls(
            react_s,
            react_s + speed_mps / BRAKES_MPS2 + _FADES_S,
            react_s * speed_mps + speed_mps**2 / (2 * BRAKES_MPS2),
        )

    def hold(self, stop: MeasuredStop) -> bool:
        return self.over_s(stop) <= 0

    def over_s(self, stop: MeasuredStop) -> float:
        """Return by how much the worst of the three limits is exceeded, in s.

        Metres count as the time that they take at full speed.
        """
        return max(
            stop.reaction_s - self.reaction_s,
            stop.seconds - self.seconds,
            # m/s: a stop from a slower drive has no distance to be measured against
            (stop.metres - self.metres) / max(stop.from_mps, 0.1),
        )


def judge_stop(
    stop: MeasuredStop,
    limits: StopLimits,
    machine: MachineTiming,
    fault_s: float,
    *,
    cause: str = "",
    causes: tuple[str, ...] = (),
    slow_start_s: float = 0.0,
) -> Ruling:
    """Judge a stop by its limits, by the machine's lateness, and by the ``cause`` it must have.

    ``fault_s`` is when the fault came, in s of the machine's monotonic clock. ``causes`` are codes
    that the car named, the first of which has to be ``cause``, if that is given. ``slow_start_s``
    is what starting a program took beyond its allowance. Returns the verdict OK; NOT_SHOWN where
    the machine was as late as the stop, or late enough to have stopped the car; else FAIL, with
    why.
    """
    reacted_s = fault_s + max(stop.reaction_s, limits.reaction_s)
    if not stop.was_driven:
        return stopped_by_itself(machine, fault_s, "the car had stopped before the fault")
    # Lateness counts only until the reaction: from there on the brake is on, and the
    # plant's own clock stands still where its program gets no time.
    late_s = max(machine.late_s(fault_s, reacted_s), slow_start_s)
    timing = by_time(limits.over_s(stop), late_s)
    if timing.verdict is not Verdict.OK or not cause or causes[:1] == (cause,):
        return timing
    got = "; also, ".join(map(_why, causes)) or "nothing was wrong"
    named = f"it had to stop because {_why(cause)}, and stopped because {got}"
    if causes and causes[0] in OF_LATENESS:
        return stopped_by_itself(machine, reacted_s, named)
    return fails(named)


def _why(cause: str) -> str:
    """Return a cause as it goes on after "because"; an unknown one by its code."""
    row = TEXTS["Cause"].get(cause)
    return clause(row[2]) if row else cause
