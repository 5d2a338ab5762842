"""Whether the wheels do what they are driven to do: an encoder that lies must not steer the speed.

A dead encoder reads standstill, and the speed loop would answer with full effort. Only what lasts
counts: wheels slip, sensors jitter.
"""

from firmware.compat import TYPE_CHECKING
from firmware.core.deadlines import Deadline

if TYPE_CHECKING:
    from firmware.core.params import Params

_ROLLING_MM_S = 300
_VANISHES_US = 80_000  # twice the time over which speed is measured: no car rolls out in that


class Plausibility:
    def __init__(self) -> None:
        self.is_stuck = False  # driven, and no motion: encoder dead, or the car blocked
        self.is_too_fast = False  # faster than any source may ask for
        self._moves = Deadline()
        self._slow = Deadline()
        self._rolled = Deadline()  # open just after it rolled, unbraked
        self._stuck_us = 0
        self._stuck_effort = 0
        self._standstill = 0
        self._most_mm_s = 0
        self._fast_us = 0

    def configure(self, params: "Params") -> None:
        self._stuck_us = params.get("stuck_ms") * 1000
        self._stuck_effort = params.get("stuck_effort")
        self._standstill = params.get("standstill_mm_s")
        top = max(params.get("speed_max_mm_s"), params.get("reverse_max_mm_s"))
        self._most_mm_s = top + top // 4 + 200
        self._fast_us = params.get("too_fast_ms") * 1000

    def step(self, effort: int, speed_mm_s: int, is_driving: bool, now_us: int) -> None:
        """``effort`` is what was put out on the step before."""
        self._moves.step(now_us)
        self._slow.step(now_us)
        is_standing = abs(speed_mm_s) <= self._standstill
        if not (is_driving and abs(effort) >= self._stuck_effort and is_standing):
            self._moves.set(now_us, self._stuck_us)
        if self._has_vanished(effort, speed_mm_s, is_driving, now_us):
            self._moves.shut()
        if abs(speed_mm_s) <= self._most_mm_s:
            self._slow.set(now_us, self._fast_us)
        self.is_stuck = not self._moves.is_open
        self.is_too_fast = not self._slow.is_open

    def _has_vanished(self, effort: int, speed_mm_s: int, is_driving: bool, now_us: int) -> bool:
        """Whether the motion ended sooner than a car that nobody brakes can roll out."""
        self._rolled.step(now_us)
        if not is_driving or effort * speed_mm_s < 0:
            self._rolled.shut()  # brakes may stop the wheels at once
        elif abs(speed_mm_s) > _ROLLING_MM_S:
            self._rolled.set(now_us, _VANISHES_US)
        return abs(speed_mm_s) <= self._standstill and self._rolled.is_open
