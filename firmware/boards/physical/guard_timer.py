"""Ring 1: carries out what core/stops/guard.py decides, from a hard timer and the loop's pin.

Nothing here decides. While the guard gates, or the drive is not wanted, the life signal is cut.
While the guard gates, the drive's channels are put to their fallbacks ("ended"), too.

An interrupt may come in the middle of the main loop's write of its outputs, and the rest of that
write would then undo the fallbacks. So they are put out once more at the end of such a write. If
the main loop hangs before it gets there, the timer puts them out at each tick: a wrong output
lasts for one tick at most.
"""

from firmware.compat import TYPE_CHECKING, micropython
from firmware.core.stops.guard import Guard, rate_limited

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, Protocol

    from machine import Pin, Timer

    from firmware.drivers.ticks import TicksUs

    class EnableSignal(Protocol):
        def renew(self) -> None: ...

        def cut(self) -> None: ...

    class Ending(Protocol):
        def end(self) -> None: ...


const = micropython.const
TICK_HZ = 2_000  # where the timer makes the life signal
_MOST_US = const(12_800)  # a life signal of 20 ms is renewed after that, with 7 to spare
_MASK = const((1 << 30) - 1)


class GuardTimer:
    """The guard with what it cuts; until the first write all is cut.

    ``on_timer`` is for a hard timer at ``TICK_HZ``, or ``rate_limited()`` at ``RATE_LIMITED_HZ``;
    ``on_edge`` for both edges of ``loop``, which is high while closed. ``ended`` are the channels
    to end; ``is_wanted`` is what the program wrote for the drive enable.
    """

    def __init__(self, loop: "Pin", life: "EnableSignal", ticks_us: "TicksUs") -> None:
        self.guard = Guard()
        self.ended: "tuple[Ending, ...]" = ()
        self.is_wanted = False
        self.loop = loop
        self._watch = self.guard.watch
        self._renew = life.renew
        self._life = life
        self._ticks_us = ticks_us

    def leave(self) -> None:
        """Cut everything for good: until a reset the program writes no more."""
        self.is_wanted = False
        self.guard.leave()
        self._end(1)

    def begin(self, limit_us: int) -> None:
        """Set how long the program may be away."""
        self.guard.begin(limit_us, _MOST_US)

    def on_edge(self, pin: "Pin") -> None:
        self.on_timer(None)

    def rate_limited(self) -> "Callable[[Any], Any]":
        """Return a callback in place of ``on_timer``, which does nothing while nothing is due.

        It is for boards whose life signal goes on by itself between renewals.
        """
        return rate_limited(self.guard.words, self.loop, self.on_timer)

    @micropython.native
    def on_timer(self, timer: "Timer | None") -> None:
        is_gating = self._watch(self.loop, self._ticks_us)
        if self.is_wanted and not is_gating:
            self._renew()
        else:
            self._end(is_gating)

    def _end(self, is_gating: int) -> None:
        self._life.cut()
        if is_gating:
            for channel in self.ended:
                channel.end()

    @micropython.native
    def end_written(self) -> None:
        """Note that the outputs are written; if the gate fell meanwhile, end them again at once.

        Otherwise an H-bridge would drive on until the next tick.
        """
        if self.guard.is_gating:
            for channel in self.ended:
                channel.end()

    @micropython.native
    def write(self, enable: bool) -> int:
        """Record the program's beat; return whether the guard gates what it is about to put out.

        With the drive off the caller keeps interrupts off, because the guard may release the gate
        then.
        """
        self.is_wanted = enable
        return self.guard.beat(enable, self._ticks_us() & _MASK)
