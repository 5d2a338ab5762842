"""The deadline monitor: counts the missed beats and averages what a step takes.

A beat is missed when its step ended later than the next one was due. This only keeps a car from
being armed. The fault monitor stops one whose step is as long as three (stops/fault_monitor.py),
and the guard cuts one whose program stays away longer (stops/guard.py).
"""

from firmware.compat import TYPE_CHECKING, micropython
from firmware.core.deadlines import elapsed_us
from firmware.core.motion.limits import clamped
from firmware.protocol.ranges import U16

if TYPE_CHECKING:
    from firmware.core.settings.params import Params

const = micropython.const

_WINDOW = const(100)  # beats
_MANY = const(20)  # missed of these: garbage collections make fewer late
_FEW = const(10)  # half as many: near the limit it does not go to and fro
_LONGEST = const(3)  # beats, of one step in the average: a write to flash is an exception
_SMOOTHING = const(3)  # the average is over about the last eight steps


class OverrunMonitor:
    """The count of missed beats; ``is_off_beat`` from more than 20 of the last 100 on, until 10."""

    def __init__(self) -> None:
        self.beat_us = 0
        self.takes_us = 0  # by one step, a recent average
        self.missed = 0  # beats since start-up, modulo 2**16
        self.missed_lately = 0  # of the last 100
        self.is_off_beat = False
        self._marks = bytearray(_WINDOW)  # 1 is a missed beat
        self._at = 0
        self._begun_us = 0

    def configure(self, params: "Params") -> None:
        self.beat_us = params.get("step_us")

    def step(self, took_us: int, now_us: int) -> None:
        """Count the step before this one, which ended ``took_us`` after it was due."""
        is_missed = took_us > self.beat_us
        if is_missed or self.missed_lately:  # else no mark changes
            self._mark(is_missed)
        if is_missed:  # this step began as that one ended: the difference is its run time
            took_us = min(took_us, elapsed_us(now_us, self._begun_us))
            took_us = clamped(took_us, 0, self.beat_us * _LONGEST)
        self._begun_us = now_us
        self.takes_us += (took_us - self.takes_us) >> _SMOOTHING

    def _mark(self, is_missed: bool) -> None:
        marks, at = self._marks, self._at
        mark = 1 if is_missed else 0
        self.missed = self.missed + mark & U16
        self.missed_lately += mark - marks[at]
        marks[at] = mark
        self._at = at + 1 if at < len(marks) - 1 else 0
        if self.missed_lately > _MANY:
            self.is_off_beat = True
        elif self.missed_lately <= _FEW:
            self.is_off_beat = False
