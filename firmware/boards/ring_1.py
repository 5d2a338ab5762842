"""Ring 1: what the guard decides (core/guard.py), done from a hard timer and the loop's interrupt.

Nothing here decides. While the guard gates, or the drive is not wanted, the life signal is cut and
the drive's channels are ended, again at each tick: what the main loop may have written in between
lives for half a millisecond.
"""

from firmware.compat import TYPE_CHECKING
from firmware.core.guard import Guard

if TYPE_CHECKING:
    from typing import Protocol

    from machine import Pin, Timer

    from firmware.drivers.ticks import TicksUs

    class Life(Protocol):
        def renew(self) -> None: ...

        def cut(self) -> None: ...

    class Ending(Protocol):
        def end(self) -> None: ...


TICK_HZ = 2_000  # core/guard.py's promise of a millisecond asks for it
_MASK = (1 << 30) - 1


class Ring1:
    """``on_timer`` for a hard timer at ``TICK_HZ``, ``on_edge`` for both edges of ``loop``, which
    is high while closed. ``ended`` are the channels to end; ``is_wanted`` what the program wrote
    for the drive enable. Until the first write all is cut."""

    def __init__(self, loop: "Pin", life: "Life", ticks_us: "TicksUs") -> None:
        self.guard = Guard()
        self.ended: "tuple[Ending, ...]" = ()
        self.is_wanted = False
        self._loop = loop
        self._life = life
        self._ticks_us = ticks_us

    def on_edge(self, pin: "Pin") -> None:
        self.guard.edge(self._loop.value(), self._ticks_us() & _MASK)
        self._act()

    def on_timer(self, timer: "Timer | None") -> None:
        self.guard.tick(self._loop.value(), self._ticks_us() & _MASK)
        self._act()

    def _act(self) -> None:
        if self.is_wanted and not self.guard.is_gating:
            self._life.renew()
            return
        self._life.cut()
        if self.guard.is_gating:
            for channel in self.ended:
                channel.end()

    def write(self, enable: bool) -> None:
        """The program's beat. The caller keeps interrupts off: guard and wish are one."""
        self.guard.beat(enable, self._ticks_us() & _MASK)
        self.is_wanted = enable
