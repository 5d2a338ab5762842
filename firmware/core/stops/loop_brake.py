"""Braking after the runstop loop has opened, before the cut, where an off-delay leaves the time.

The problem. A plain ESC without power coasts for metres, and braked it stands in a tenth of that.
Where the wiring keeps its power for a while after the loop has opened (an off-delay of K1's coil,
hardware/stopping.md), and only there, the program may use that time. Such a stop is longer than a
cut by no more than what is driven until it ends, and everything that is not as it should be ends it
at once.

Before it brakes these have to hold: the car goes forward, fast enough for a brake to be worth it,
by its own drive, at a speed that is not in doubt, on the ground, and its program is in time. While
it brakes these have to hold: the enable's contact is still closed, nothing else asks for more than
braking, and the measured speed falls as promised. This module can end the braking, and has no way
to lengthen it: the time runs from the first opening, the guard has a time of its own, and the
hardware a longer one.

A car that has no off-delay has no such module in its memory.
"""

from firmware.compat import TYPE_CHECKING, micropython
from firmware.core.deadlines import elapsed_us
from firmware.core.settings.params import POLICY_BRAKE, POLICY_CUT
from firmware.protocol.codes import CAUSE_RUNSTOP_LOOP, SPEED_IN_DOUBT

if TYPE_CHECKING:
    from firmware.core.contract import Board
    from firmware.core.motion.drive import Drive
    from firmware.core.motion.odometry import Odometry
    from firmware.core.settings.params import Params
    from firmware.core.stops.fault_monitor import FaultMonitor
    from firmware.core.stops.latch import Latch
    from firmware.core.stops.stopping import StopSequence

const = micropython.const

_SLOW_MM_S = const(500)  # from there a car coasts for decimetres
_LOOKS_MS = const(80)  # with a beat, the life signal and two relays: a cut in 150 ms
_BUILDS_UP_MS = const(50)  # delay of pulses, ESC and the averaged speed
_LATE_STEPS = const(2)


class LoopBrake:
    def __init__(
        self,
        board: "Board",
        runstop: "Latch",
        faults: "Latch",
        stop_sequence: "StopSequence",
        odometry: "Odometry",
        fault_monitor: "FaultMonitor",
        drive: "Drive",
    ) -> None:
        self._board = board
        self._runstop = runstop
        self._faults = faults
        self._stop_sequence = stop_sequence
        self._odometry = odometry
        self._fault_monitor = fault_monitor
        self._drive = drive
        self._most_ms = 0
        self._promised = 0  # mm/s^2
        self._late_us = 0
        self._has_opened = False
        self._opened_us = 0
        self._from_mm_s = 0

    def configure(self, params: "Params") -> None:
        self._most_ms = params.get("loop_brake_ms")
        self._promised = params.get("brake_decel_mm_s2") // 2
        self._late_us = params.get("step_us") * _LATE_STEPS

    def begin(self) -> None:
        """Begin a stop: the loop has not opened in it yet."""
        self._has_opened = False

    def step(self, now_us: int) -> None:
        """Cut a car in STOPPING whose loop has opened, if braking is not, or no longer, allowed."""
        if not self._runstop.bits >> CAUSE_RUNSTOP_LOOP & 1:
            return
        speed_mm_s = self._odometry.speed_mm_s
        if not self._has_opened:
            self._has_opened = True
            self._opened_us = now_us
            # wheels that nothing drives or brakes are turned by hands
            self._from_mm_s = speed_mm_s if self._drive.effort else 0
        since_ms = elapsed_us(now_us, self._opened_us) // 1000
        if not (self._is_sound() and self._falls(speed_mm_s, since_ms)):
            self._stop_sequence.tighten(POLICY_CUT)

    def _is_sound(self) -> bool:
        board = self._board
        return (
            self._stop_sequence.policy == POLICY_BRAKE
            and not self._fault_monitor.is_on_stand
            and not self._faults.bits & SPEED_IN_DOUBT
            and board.enable_contact == 1
            and board.step_us <= self._late_us
        )

    def _falls(self, speed_mm_s: int, since_ms: int) -> bool:
        """Return whether braking is worth it and the speed falls at half the set rate at least."""
        if self._from_mm_s < _SLOW_MM_S or speed_mm_s < 0 or since_ms >= self._most_ms:
            return False
        fallen_mm_s = self._promised * (since_ms - _BUILDS_UP_MS) // 1000
        return since_ms < _LOOKS_MS or speed_mm_s <= max(self._from_mm_s - fallen_mm_s, _SLOW_MM_S)
