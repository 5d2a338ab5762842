"""Plausibility of the measured motion: an encoder that lies must not control the speed.

A dead encoder reads standstill, and the speed loop would answer with full effort. Only deviations
that last count: wheels slip, sensors jitter, people push.
"""

from firmware.compat import TYPE_CHECKING, micropython
from firmware.core.deadlines import Deadline

if TYPE_CHECKING:
    from firmware.core.settings.params import Params

const = micropython.const

_ROLLING_MM_S = const(300)  # slower wheels may come to rest by friction within the time below
# twice the time over which speed is measured: no car rolls out in that
_VANISHES_US = const(80_000)
_SLOWS_MM_S = const(100)  # within too_fast_ms: half a metre per second squared at 200 ms
# A car that can only roll slows by the same within this: on level ground friction alone takes more
# than a hundredth of g, and a motor that is not let go of holds its speed.
_ROLLS_OUT_US = const(1_000_000)
# On a stand wheels overshoot, healthy virtual cars' for 0.15 s, and hands turn them, with pauses to
# grip anew; only a motor that runs away goes on for so long.
_ON_STAND_US = const(1_000_000)


class Plausibility:
    """Flags of implausible motion, each set while its condition lasts.

    ``step`` takes what was put out on the step before.
    """

    def __init__(self) -> None:
        self.is_on_ground = True  # False on a stand: the wheels turn without the car
        self.only_rolls = False  # nothing on this car can brake it
        self.is_stuck = False  # driven, and no motion: encoder dead, or the car blocked
        self.is_too_fast = False  # faster than any source may ask for
        self.is_runaway = False  # faster than the target, and not slowing down
        self.is_one_sided = False  # one side stands while the other turns
        self._moves = Deadline()
        self._slow = Deadline()
        self._obeys = Deadline()
        self._agrees = Deadline()
        self._rolled = Deadline()  # open just after it rolled, unbraked
        self._reference_mm_s = 0  # is_runaway: the speed has to fall below this
        self._rolls_out = Deadline()
        self._rolled_mm_s = 0  # only_rolls: the same, within _ROLLS_OUT_US
        self._stuck_us = 0
        self._stuck_effort = 0
        self._standstill = 0
        self._most_mm_s = 0
        self._fast_us = 0
        self._runaway_mm_s = 0

    def configure(self, params: "Params") -> None:
        self._stuck_us = params.get("stuck_ms") * 1000
        self._stuck_effort = params.get("stuck_effort")
        self._standstill = params.get("standstill_mm_s")
        top = max(params.get("speed_max_mm_s"), params.get("reverse_max_mm_s"))
        # chosen: an overshoot by a quarter, and a slow car's noise, are no fault
        self._most_mm_s = top + top // 4 + 200
        self._fast_us = params.get("too_fast_ms") * 1000
        self._runaway_mm_s = params.get("runaway_mm_s")

    @micropython.native
    def step(self, effort: int, speed_mm_s: int, is_driving: bool, now_us: int) -> None:
        """Update ``is_stuck``, driven without motion, and ``is_too_fast``, beyond any request."""
        speed, moves, slow = abs(speed_mm_s), self._moves, self._slow
        is_standing = speed <= self._standstill
        if is_driving and is_standing and abs(effort) >= self._stuck_effort:
            moves.step(now_us)
        else:
            moves.set(now_us, self._stuck_us)
        if self._has_vanished(effort, speed_mm_s, is_driving, now_us):
            moves.shut()
        if speed <= self._most_mm_s:
            slow.set(now_us, self._fast_us)
        else:
            slow.step(now_us)
        self.is_stuck = not moves.is_open
        self.is_too_fast = not slow.is_open

    def _has_vanished(self, effort: int, speed_mm_s: int, is_driving: bool, now_us: int) -> bool:
        """Return whether the motion ended sooner than a car that nobody brakes can roll out."""
        rolled, speed = self._rolled, abs(speed_mm_s)
        if not is_driving or not self.is_on_ground or effort * speed_mm_s < 0:
            rolled.is_open = False  # brakes may stop the wheels at once
        elif speed > _ROLLING_MM_S:
            rolled.set(now_us, _VANISHES_US)
        else:
            rolled.step(now_us)
        return rolled.is_open and speed <= self._standstill

    def watch_target(
        self, target_mm_s: int, speed_mm_s: int, must_obey: bool, is_braked: bool, now_us: int
    ) -> None:
        """Update ``is_runaway``: motion beyond the target that does not slow down.

        A braked car has to slow by ``_SLOWS_MM_S`` within its time, again and again. A car that
        nobody brakes may roll, but gain less; one that nothing can brake slows down by friction.
        """
        speed, obeys = abs(speed_mm_s), self._obeys
        reference = self._reference_mm_s
        backwards = target_mm_s * speed_mm_s < 0
        allowed = self._runaway_mm_s + (0 if backwards else abs(target_mm_s))
        is_free = not must_obey or speed <= allowed
        self._watch_rolling(speed, is_free or is_braked or not self.only_rolls, now_us)
        if is_free:
            reference = speed
        elif speed < reference - _SLOWS_MM_S or (
            not is_braked and speed <= reference + _SLOWS_MM_S
        ):
            reference = min(reference, speed)
        else:
            obeys.step(now_us)
            self.is_runaway = not (obeys.is_open and self._rolls_out.is_open)
            return
        self._reference_mm_s = reference
        obeys.set(now_us, self._fast_us if self.is_on_ground else _ON_STAND_US)
        self.is_runaway = not self._rolls_out.is_open

    def _watch_rolling(self, speed: int, may_keep_it: bool, now_us: int) -> None:
        """Shut ``_rolls_out`` when a car that can only roll did not slow down for its time."""
        if may_keep_it or speed < self._rolled_mm_s - _SLOWS_MM_S:
            self._rolled_mm_s = speed
            self._rolls_out.set(now_us, _ROLLS_OUT_US)
        else:
            self._rolls_out.step(now_us)

    def watch_sides(self, is_one_sided: bool, must_agree: bool, now_us: int) -> None:
        """Update ``is_one_sided``: of two encoders one is dead, or its wheel is held."""
        if is_one_sided and must_agree:
            self._agrees.step(now_us)
        else:
            self._agrees.set(now_us, self._stuck_us)
        self.is_one_sided = not self._agrees.is_open
