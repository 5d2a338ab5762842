"""Ring 1: what the guard decides (core/guard.py), done from a hard timer and the loop's interrupt.

Nothing here decides. While the guard gates, or the drive is not wanted, the life signal is cut and
the drive's channels are ended; again at the end of a write that goes on meanwhile, and at each tick
as long as one may: what a main loop that hangs in the middle of it has put out lives for a tick.
"""

from firmware.compat import TYPE_CHECKING, micropython
from firmware.core.guard import Guard, sparing

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, Protocol

    from machine import Pin, Timer

    from firmware.drivers.ticks import TicksUs

    class Life(Protocol):
        def renew(self) -> None: ...

        def cut(self) -> None: ...

    class Ending(Protocol):
        def end(self) -> None: ...


const = micropython.const
TICK_HZ = 2_000  # where the timer makes the life signal
_MOST_US = const(12_800)  # a life signal of 20 ms is renewed after that, with 7 to spare
_MASK = const((1 << 30) - 1)


class Ring1:
    """``on_timer`` for a hard timer at ``TICK_HZ``, or ``sparing()`` at ``SPARING_HZ``; ``on_edge``
    for both edges of ``loop``, which is high while closed. ``ended`` are the channels to end;
    ``is_wanted`` what the program wrote for the drive enable. Until the first write all is cut."""

    def __init__(self, loop: "Pin", life: "Life", ticks_us: "TicksUs") -> None:
        self.guard = Guard()
        self.ended: "tuple[Ending, ...]" = ()
        self.is_wanted = False
        self.loop = loop
        self._watch = self.guard.watch
        self._renew = life.renew
        self._life = life
        self._ticks_us = ticks_us

    def leave(self) -> None:
        """All is cut for good: until a reset the program writes no more."""
        self.is_wanted = False
        self.guard.leave()
        self._end(1)

    def begin(self, limit_us: int) -> None:
        """How long the program may be away."""
        self.guard.begin(limit_us, _MOST_US)

    def on_edge(self, pin: "Pin") -> None:
        self.on_timer(None)

    def sparing(self) -> "Callable[[Any], Any]":
        """What takes the place of ``on_timer`` where the life signal goes on by itself: it does
        nothing while there is nothing to do."""
        return sparing(self.guard.words, self.loop, self.on_timer)

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
        """The program's outputs are put out. If the gate fell meanwhile they are ended at once: an
        H-bridge would drive on until the next tick."""
        if self.guard.is_gating:
            for channel in self.ended:
                channel.end()

    @micropython.native
    def write(self, enable: bool) -> int:
        """The program's beat; whether the guard gates what it is about to put out. With the drive
        off the caller keeps interrupts off: the guard may let go then."""
        self.is_wanted = enable
        return self.guard.beat(enable, self._ticks_us() & _MASK)
