"""Within what a car has to stop, and what is to be thought of a stop."""

from __future__ import annotations

from dataclasses import dataclass

from host_bridge.demo.trace import Stop
from host_bridge.demo.verdict import (
    OK,
    Machine,
    Ruling,
    Verdict,
    by_time,
    fails,
    stopped_by_itself,
)

BRAKES_MPS2 = 4.0  # the least that braking has to give, from the first step to standstill
_FADES_S = 0.4  # an ESC's brake fades with the speed: the last decimetre takes its time
_STEP_S = 0.03  # the beat that notices, the beat of the trace, and a beat of slack
# A car that its host leaves without claims, or whose own beats are late, stops for one of these.
OF_LATENESS = ("SILENCE", "CLOCK_STEP", "OVERRUN")


@dataclass(frozen=True)
class Limits:
    """Within which a car has to react, and to stand."""

    reaction_s: float
    seconds: float
    metres: float

    @classmethod
    def of(cls, reaction_s: float, speed_mps: float) -> Limits:
        """The reaction at full speed, then the brake."""
        react_s = reaction_s + _STEP_S
        return cls(
            react_s,
            react_s + speed_mps / BRAKES_MPS2 + _FADES_S,
            react_s * speed_mps + speed_mps**2 / (2 * BRAKES_MPS2),
        )

    def hold(self, stop: Stop) -> bool:
        return self.over_s(stop) <= 0

    def over_s(self, stop: Stop) -> float:
        """By how much the worst of the three is over; metres as the time that they take at full
        speed."""
        return max(
            stop.reaction_s - self.reaction_s,
            stop.seconds - self.seconds,
            (stop.metres - self.metres) / max(stop.from_mps, 0.1),
        )


def ruled(
    stop: Stop,
    limits: Limits,
    machine: Machine,
    fault_s: float,
    *,
    cause: str = "",
    causes: tuple[str, ...] = (),
    slow_start_s: float = 0.0,
) -> Ruling:
    """Judge a stop: by its limits, by what the machine gave, and by the ``cause`` that it has to be
    for; ``causes`` are those that the car named, ``slow_start_s`` what starting a program took
    more than is granted for it."""
    reacted_s = fault_s + max(stop.reaction_s, limits.reaction_s)
    if not stop.was_driven:
        return stopped_by_itself(machine, fault_s, "the car had stopped before the fault")
    # Only who has yet to react waits for the processor: from there on the brake is on, and the
    # plant's own clock stands still where its program gets no time.
    late_s = max(machine.late_s(fault_s, reacted_s), slow_start_s)
    timing = by_time(limits.over_s(stop), late_s)
    if timing.verdict is not Verdict.OK or not cause or causes[:1] == (cause,):
        return timing
    named = f"it had to be for {cause}, and was for {', '.join(causes) or 'nothing'}"
    if causes and causes[0] in OF_LATENESS:
        return stopped_by_itself(machine, reacted_s, named)
    return fails(named) if timing is OK else timing
