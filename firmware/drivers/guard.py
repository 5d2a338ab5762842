"""Ring 1: a hard timer that watches the car's beat and keeps ring 0 alive only while it is there.

Integers only and nothing allocated, so that it runs in a hard interrupt, the main loop hung or
collecting garbage. It can only stop: it renews the life signal, or cuts it.
"""

from firmware.compat import TYPE_CHECKING
from firmware.drivers.ticks import age_us

if TYPE_CHECKING:
    from typing import Protocol

    from firmware.drivers.runstop_loop import RunstopLoop
    from firmware.drivers.ticks import TicksUs

    class Life(Protocol):
        def renew(self) -> None: ...

        def cut(self) -> None: ...


class Guard:
    """``on_timer`` is the callback of ``machine.Timer(freq=1000, hard=True)``. The step calls
    ``beat`` each time, with whether the drive is to be enabled; after ``limit_us`` without a beat
    or with the runstop open the enable ends, and ``has_tripped`` stays until ``rearm``."""

    def __init__(
        self, life: "Life", runstop: "RunstopLoop", ticks_us: "TicksUs", limit_us: int
    ) -> None:
        self._life = life
        self._runstop = runstop
        self._ticks_us = ticks_us
        self._limit_us = limit_us
        self._beat_us = 0
        self._is_enabled = False
        self.has_tripped = False

    def beat(self, now_us: int, is_enabled: bool) -> None:
        self._beat_us = now_us  # before the enable: the timer may come between
        self._is_enabled = is_enabled and not self.has_tripped

    def rearm(self) -> None:
        """While the drive is not enabled."""
        self.has_tripped = False

    def on_timer(self, timer: object) -> None:
        self._runstop.sample()
        if not self._is_enabled:
            return
        is_late = age_us(self._ticks_us(), self._beat_us) > self._limit_us
        if is_late or not self._runstop.is_closed:
            self.has_tripped = True
            self._is_enabled = False
            self._life.cut()
        else:
            self._life.renew()
