"""The guard is ring 1: it cuts the drive when its program hangs or the runstop loop opens.

The problem. A program that hangs cannot notice that it hangs. Something that runs without it has to
look: a hard timer, and the interrupt of the loop's pin, which come even while the main loop is
stuck or collects garbage. A virtual board calls the guard from its world instead.

It looks at two things. The program says each step that it is alive (``beat``); if it stays away for
longer than its limit, it hangs. And the level of the runstop loop says whether somebody opened it.
In both cases the gate falls: while ``is_gating`` the drive enable is off and the pulses are at
their fallback, whatever the program writes.

It can only stop. There is no call that makes it let the car drive. The gate is released when the
program has looked at why it fell (``read``) and has then put out a write with the drive off. So the
program cannot drive on without having latched the cause, and a program that hung and woke up in the
middle of its step puts out nothing of what it had in mind before.

A look is filtered by what was seen, not by the time between edges. An interrupt comes late, and may
itself be interrupted, so no difference of two edges' times says how long the loop was open. What
counts is a loop that was found open look after look for the filter's time, and whoever finds it
open stays and looks again until that is settled (``watch``). A spike under 20 us is never seen open
for so long. An opening of 200 us always is.

It must cost next to nothing. On an RP2040 the timer ticks 1250 times a second, and Python takes
tens of microseconds for a call. So the guard works out for how long a loop that stays as it is
needs no other look, and ``rate_limited`` is a tick that counts this down in a few instructions. All
its words are integers in one array, because neither an interrupt nor viper code may allocate.

Where the wiring keeps the drive's power for a while after the loop has opened (an off-delay,
hardware/stopping.md), the gate need not fall at once: the program may brake first. The guard then
waits for ``BRAKES_US`` from the first opening of the loop; a second opening does not start the wait
again. It waits only while the program writes outputs that do not drive on (``tell``). If the
program goes on driving, does not brake soon, or is late with a step, the gate falls as ever.

Promises S3 and S5 rest on it. Ring 0 holds if the guard itself dies: the life signal that it feeds
ends, the pulses fall back by themselves, and the watchdog resets the chip.
"""

from firmware.compat import TYPE_CHECKING, array, micropython, ptr32

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

const = micropython.const
# The loop's filter: under 20 us is never seen open for so long; 200 us always are, where the edge's
# interrupt waits for no longer than 100 and a look takes no more than 40
_FILTER_US = const(60)
_BEATS = const(4)  # one more than the program's own limit of a step (fault_monitor.py)
_AWAY_US = const(40_000)
BRAKES_US = 640_000  # from the first opening; the shortest off-delay of the parts list is longer
_MOST_LOOKS = const(250)  # of one ``watch``: if the clock stands, its interrupt ends all the same
RATE_LIMITED_HZ = 1_250  # a loop whose interrupt was lost is cut within 1 ms: tick and filter
_TICK_US = const(800)
_IN_DOUBT = const(2)
_HALF = const(1 << 29)
_MASK = const((1 << 30) - 1)

# Indices of its words, which viper reads and writes without the interpreter; each is 0 or more
_OPEN = const(0)  # the loop, when it was looked at last
_UNTIL_LOOK_US = const(1)  # for how long a loop that stays as it is needs no other look
_GATING = const(2)
_SEEN = const(3)  # the loop was open, since the program looked last
_LATE = const(4)  # the program missed its beat
_ACKNOWLEDGED = const(5)  # the program has looked since the gate fell
_UNDONE = const(6)  # a write that began before the gate fell may still go on
_BEGUN = const(7)  # the program has written, and was not late since
_OPENED_US = const(8)
_BEAT_US = const(9)
_LIMIT_US = const(10)
_MOST_US = const(11)
_ENABLE = const(12)  # as it was written last
_WORDS = (0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)  # it gates until the first write
_GRACE_US = const(13)  # for how long an open loop may be braked before it falls; 0: it falls
_SINCE_US = const(14)  # when it opened for the first time
_BRAKES = const(15)  # the last write since then does not drive on
_BRAKED_FIRST = (0, 0, 0)


def limit_us(beat_us: int) -> int:
    """Return how long the program may be away: four beats, and 40 ms at most."""
    return min(beat_us * _BEATS, _AWAY_US)


@micropython.viper
def _look(words: ptr32, is_closed: int, now_us: int) -> int:
    falls = 0
    until_look_us = words[_MOST_US]
    if words[_BEGUN]:
        away_us = (now_us - words[_BEAT_US] + _HALF & _MASK) - _HALF
        if away_us > words[_LIMIT_US]:
            words[_BEGUN] = 0
            words[_LATE] = 1
            falls = 1
        elif words[_LIMIT_US] - away_us < until_look_us:
            until_look_us = words[_LIMIT_US] - away_us
    doubt = 0
    if is_closed:
        words[_OPEN] = 0
    else:
        if not words[_OPEN]:
            words[_OPENED_US] = now_us
            words[_OPEN] = 1
        if (now_us - words[_OPENED_US] + _HALF & _MASK) - _HALF >= _FILTER_US:
            if words[_GATING] or not words[_GRACE_US]:
                words[_SEEN] = 1
                falls = 1
        else:
            doubt = _IN_DOUBT
    if falls:
        words[_ACKNOWLEDGED] = 0
        if not words[_GATING]:
            words[_GATING] = 1
            words[_UNDONE] = 1
    words[_UNTIL_LOOK_US] = 0 if doubt else until_look_us
    return words[_GATING] + doubt


@micropython.viper
def _wait_out_grace(words: ptr32, now_us: int) -> int:
    """Let the off-delay's grace pass after a look; return whether it gates."""
    if words[_GATING]:
        return 1
    if not words[_SEEN]:
        if not words[_OPEN]:
            return 0
        words[_SEEN] = 1
        words[_SINCE_US] = now_us
        words[_BRAKES] = 0
    most_us = words[_GRACE_US] if words[_BRAKES] else words[_LIMIT_US]
    if (now_us - words[_SINCE_US] + _HALF & _MASK) - _HALF > most_us:
        words[_ACKNOWLEDGED] = 0
        words[_GATING] = 1
        words[_UNDONE] = 1
    words[_UNTIL_LOOK_US] = 0
    return words[_GATING]


@micropython.viper
def _read(words: ptr32) -> int:
    words[_ACKNOWLEDGED] = 1  # first: what falls from here on takes it back
    return words[_SEEN] + 2 * words[_LATE]


@micropython.viper
def _beat(words: ptr32, enable: int, now_us: int) -> int:
    words[_BEAT_US] = now_us
    words[_BEGUN] = 1
    words[_UNDONE] = 0
    if words[_ENABLE] != enable:
        words[_ENABLE] = enable
        words[_UNTIL_LOOK_US] = 0
    if not enable and words[_ACKNOWLEDGED] and not words[_OPEN]:
        words[_GATING] = 0
        words[_LATE] = 0
        words[_SEEN] = 0
    return words[_GATING]


class Guard:
    def __init__(self) -> None:
        self.words = array("i", _WORDS + _BRAKED_FIRST)

    @property
    def is_gating(self) -> bool:
        return self.words[_GATING] != 0

    @property
    def has_seen_loop_open(self) -> bool:
        """True if the loop was seen open since the gate was last released."""
        return self.words[_SEEN] != 0

    @property
    def is_late(self) -> bool:
        """True if the program missed its beat, until the gate is released."""
        return self.words[_LATE] != 0

    def begin(self, limit_us: int, most_us: int = 0, grace_us: int = 0) -> None:
        """Set the limits of time, in us.

        ``limit_us``: how long the program may be away. ``most_us``: how long at most a quiet loop
        is not looked at. ``grace_us``: how long the program may brake after the loop has opened, 0
        where the wiring has no off-delay.
        """
        self.words[_LIMIT_US] = limit_us
        self.words[_MOST_US] = most_us
        self.words[_GRACE_US] = grace_us
        self.words[_UNTIL_LOOK_US] = 0

    def look(self, is_closed: int, now_us: int) -> int:
        """Look once at the loop's level and at how long the program has been away.

        Return bit 0: it gates; bit 1: only time can tell whether the open loop is a spike.
        """
        state = _look(self.words, is_closed, now_us)
        if self.words[_GRACE_US] and state < _IN_DOUBT:
            state = _wait_out_grace(self.words, now_us)
        return state

    @micropython.native
    def watch(self, level: "Callable[[], Any]", ticks_us: "Callable[[], Any]") -> int:
        """Look again and again until it is sure about the loop; return 1 if it gates."""
        words, look, state = self.words, _look, 0
        for _ in range(_MOST_LOOKS):
            state = look(words, level(), ticks_us() & _MASK)
            if state < _IN_DOUBT:
                break
        if words[_GRACE_US] and state < _IN_DOUBT:
            state = _wait_out_grace(words, ticks_us() & _MASK)
        return state & 1

    def read(self) -> int:
        """Show the program what the guard saw, which so is acknowledged.

        Return bit 0: the loop was open; bit 1: the program missed its beat; both since the gate was
        last released.
        """
        return _read(self.words)

    def beat(self, enable: bool, now_us: int) -> int:
        """Record that the program is alive and its outputs are put out; return whether it gates.

        With the drive off, the cause acknowledged (``read``) and the loop closed the gate is
        released; interrupts have to be off for such a call.
        """
        return _beat(self.words, enable, now_us)

    def tell(self, brakes: bool) -> None:
        """Note whether the written outputs do not drive on; needed only with an off-delay."""
        self.words[_BRAKES] = brakes

    def leave(self) -> None:
        """Gate for good: the program writes no more, and the timer has no write of it to undo."""
        words = self.words
        words[_GATING] = 1
        words[_ACKNOWLEDGED] = words[_BEGUN] = words[_UNDONE] = 0


def rate_limited(
    words: "array[int]", level: "Callable[[], Any]", on_timer: "Callable[[Any], Any]"
) -> "Callable[[Any], Any]":
    """Return a hard timer's callback that calls ``on_timer`` only when a look is due.

    It is for a timer at ``RATE_LIMITED_HZ``. While no look is due it takes a handful of
    instructions, because all that the interpreter does takes microseconds. ``words`` are a guard's.
    """

    @micropython.viper
    def on_tick(timer: object) -> int:
        own = ptr32(words)  # type: ignore[call-overload]
        until_look_us = own[_UNTIL_LOOK_US] - _TICK_US
        if until_look_us > 0 and not own[_UNDONE] and int(level()) != own[_OPEN]:
            own[_UNTIL_LOOK_US] = until_look_us
        else:
            on_timer(timer)
        return 0

    return on_tick
