"""Setpoints from the newest plan, and when there is none to drive by: the stop rules of a planner.

A planner that hangs or is late leaves its newest plan to age; one that was killed has ended; a plan
with what is no number is none. Each stops the car, with the reason in words.
"""

from __future__ import annotations

from math import isfinite
from typing import NamedTuple

from host_bridge.inputs.paths.mppi.planner import PERIOD_US, STEP_S, MppiPlan, PlanRequest
from host_bridge.inputs.paths.mppi.sources import PlanSource

# Six periods: by then a car at 4 m/s has gone 0.6 m by what was planned before. A plan is good for
# longer, but who misses five in a row will not come back in time
STALE_US = 150_000


class Setpoint(NamedTuple):
    """Steering and speed to be sent now."""

    steer_rad: float
    speed_mps: float


class PlanDriving:
    """The reader of a planner's plans."""

    def __init__(self, source: PlanSource) -> None:
        self._source = source
        self.begin_anew()

    def begin_anew(self) -> None:
        """Forget what was planned: the car is let go of, or a person who arms again saw why."""
        self._since_us: int | None = None
        self._due_us = 0

    def step(self, request: PlanRequest) -> tuple[Setpoint | None, str]:
        """Ask for a plan if one is due; return the setpoint of now, and why the car must stop.

        Neither before the first plan has come.
        """
        now_us = request.now_us
        if self._since_us is None:
            self._since_us = self._due_us = now_us
        if now_us >= self._due_us:
            self._due_us = max(self._due_us + PERIOD_US, now_us)
            self._source.ask(request)
        plan = self._source.newest()
        if why := self._source.fault():
            return None, why
        has_plan = plan is not None and plan.begin_us >= self._since_us
        newest_us = plan.begin_us if plan is not None and has_plan else self._since_us
        if now_us - newest_us > STALE_US:
            return None, (
                f"The planner's newest plan is {(now_us - newest_us) * 1e-3:.0f} ms old, "
                f"at most {STALE_US * 1e-3:.0f}"
            )
        if plan is None or not has_plan:
            return None, ""
        if not all(map(isfinite, plan.steer_rad + plan.speed_mps)):
            return None, "The planner planned something that is no number"
        return _setpoint(plan, (now_us - plan.begin_us) * 1e-6), ""

    def close(self) -> None:
        self._source.close()


def _setpoint(plan: MppiPlan, age_s: float) -> Setpoint:
    """Return what a plan has for this age: straight in between two steps."""
    at = age_s / STEP_S
    i, part = int(at), at - int(at)
    steer, speed = (
        row[i] + part * (row[i + 1] - row[i]) for row in (plan.steer_rad, plan.speed_mps)
    )
    return Setpoint(steer, speed)
