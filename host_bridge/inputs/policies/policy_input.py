"""An input that drives by a policy file: ``--input policy:FILE.npz``.

It reads what the first car reports, decides once in each of its periods, and claims as the source
``script``: a real car moves only while a person holds the deadman. A car that reports nothing new
is not driven on: the source falls silent, and the car stops by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from urllib.parse import parse_qsl

from host_bridge.core import (
    DriveCommand,
    Input,
    InputContext,
    InputLimits,
    Observed,
    brake_for,
)
from host_bridge.core.errors import UsageFault
from host_bridge.inputs.policies.policy import Policy, load_policy

_EXAMPLE = "policy:FILE.npz, or policy:FILE.npz?as_it_is=1"
_REAL_MPS = (
    1.0  # chosen: a policy's first drive of a real car is at walking pace; --speed says more
)


class PolicyInput(Input):
    """The input that asks a policy, while the deadman permits it."""

    is_computed = True

    def __init__(self, policy: Policy, *, is_as_it_is: bool = False) -> None:
        """``is_as_it_is``: drive another vehicle than the one that it was trained on."""
        self._policy = policy
        self._is_as_it_is = is_as_it_is
        self._notes: tuple[str, ...] = ()
        self._limits = InputLimits(0.0, 0.0, 0.0)
        self._steps = 0
        self._captured_us: int | None = None
        self._heard_us = 0
        self._due_us: int | None = None  # when it decides next
        self._decided = (0.0, 0.0)

    async def open(self, context: InputContext) -> None:
        """Raises errors.UsageFault for another vehicle than the one that it was trained on."""
        policy, name = self._policy, context.vehicles[0].name
        if name != policy.vehicle and not self._is_as_it_is:
            raise UsageFault(
                "this policy was trained on another vehicle",
                expected=policy.vehicle,
                got=name,
                remedy=f"to try it all the same: {_EXAMPLE.rpartition(' ')[2]}",
            )
        limits = context.limits(self.source)
        if not context.is_virtual and context.speed_mps is None:
            slow_mps = min(limits.speed_mps, _REAL_MPS)
            limits = InputLimits(slow_mps, min(limits.reverse_mps, slow_mps), limits.steer_rad)
        self._limits = limits
        asked_mps = max(map(abs, policy.speed_mps))
        if asked_mps > limits.speed_mps:
            self._notes = (
                f"the policy asks for up to {asked_mps:g} m/s: {limits.speed_mps:g} m/s at most",
            )

    def step(self, now_us: int, observed: Observed) -> DriveCommand:
        self._steps += 1
        seen = observed.cars[0] if observed.cars else None
        may = observed.is_driving and observed.is_permitted
        if not may or seen is None or seen.motion is None or seen.status is None:
            self._due_us = None
            return DriveCommand(input_count=self._steps)
        if seen.motion.captured_us != self._captured_us or self._due_us is None:
            self._captured_us, self._heard_us = seen.motion.captured_us, now_us
        if self._due_us is None or now_us >= self._due_us:
            self._due_us = (self._due_us or now_us) + self._policy.period_ms * 1000
            self._decided = self._policy.decide(seen.status, seen.motion)
        limits, (steer_rad, speed_mps) = self._limits, self._decided
        speed_mps = min(max(speed_mps, -limits.reverse_mps), limits.speed_mps)
        return DriveCommand(
            min(max(steer_rad, -limits.steer_rad), limits.steer_rad),
            speed_mps,
            brake_for(seen.status.speed_mps, speed_mps),
            is_held=True,
            input_count=self._steps,
            heard_us=self._heard_us,
        )

    def limit_notes(self) -> Sequence[str]:
        return self._notes


def make(rest: str, options: Mapping[str, str], now_us: Callable[[], int]) -> PolicyInput:
    """Make the input of ``--input policy:FILE``.

    Raises errors.UsageFault for an unknown option, errors.DataFileFault for what is no policy.
    """
    file, _, query = rest.partition("?")
    given = dict(parse_qsl(query, keep_blank_values=True))
    if not file or not set(given) <= {"as_it_is"} or given.get("as_it_is", "1") not in ("0", "1"):
        raise UsageFault("which policy?", expected=_EXAMPLE, got=f"policy:{rest}")
    return PolicyInput(load_policy(Path(file)), is_as_it_is=given.get("as_it_is") == "1")
