"""The event reporter: turns what changed on a step into events."""

from firmware.compat import TYPE_CHECKING, micropython
from firmware.core.motion.battery import GOOD
from firmware.core.settings.params import SOURCES, STOP_SOURCES
from firmware.core.stops.runstop import UNAUTHENTICATED
from firmware.protocol.codes import (
    ACTUATOR_COUNT,
    CAUSE_COUNT,
    CAUSE_FROZEN_INPUT,
    CAUSE_SILENCE,
    CAUSE_STOP_REQUEST,
    CAUSE_STOP_SOURCE,
    CAUSE_STOP_SOURCE_SILENT,
    EVENT_BATTERY,
    EVENT_BEAT,
    EVENT_CLAMPED,
    EVENT_FAULT_LATCHED,
    EVENT_IMU,
    EVENT_SOURCE_ENGAGED,
    EVENT_SOURCE_LOST,
    EVENT_SOURCE_SILENT,
    EVENT_STATE_CHANGED,
    EVENT_STOP_LATCHED,
    EVENT_STOP_SOURCE,
    EVENT_WINNER_CHANGED,
    FAULT_COUNT,
    NOBODY,
    STOP_SOURCE_STRANGE,
)

if TYPE_CHECKING:
    from firmware.core.arbitration.arbiter import Arbiter
    from firmware.core.arbitration.source import Source
    from firmware.core.link.events import Events
    from firmware.core.motion.battery import Battery
    from firmware.core.overrun import OverrunMonitor
    from firmware.core.stops.latch import Latch
    from firmware.core.stops.runstop import StopSources
    from firmware.core.supervisor import Supervisor


const = micropython.const
# A stop source, as in its event
_SILENT = const(0)
_THERE = const(1)
_SAYS_STOP = const(2)


def _lowest(bits: int) -> int:
    """Return the number of the lowest bit that is set, NOBODY if none is."""
    bit = 0
    while bits >> bit:
        if bits >> bit & 1:
            return bit
        bit += 1
    return NOBODY


class EventReporter:
    def __init__(self, events: "Events") -> None:
        self._events = events
        self._winners = [NOBODY] * ACTUATOR_COUNT
        self._losers = [0] * SOURCES
        self._engaged = [False] * SOURCES
        self._stop_sources = [0] * STOP_SOURCES
        self._fresh = self._stopped = 0
        self._stage = GOOD
        self._clamped = 0
        self._is_gyro_lost = False
        self._is_off_beat = False

    def stops(
        self,
        runstop: "Latch",
        arbiter: "Arbiter",
        stop_sources: "StopSources",
        sender: int,
        now_us: int,
    ) -> None:
        """Report the stop causes latched since the last call, each with who brought it."""
        for cause in range(CAUSE_COUNT):
            if runstop.news >> cause & 1:
                who = NOBODY
                if cause == CAUSE_FROZEN_INPUT:
                    who = arbiter.frozen_source
                elif cause == CAUSE_SILENCE:
                    who = arbiter.silent_source
                elif cause == CAUSE_STOP_REQUEST:
                    who = sender
                elif cause == CAUSE_STOP_SOURCE:
                    who = _lowest(stop_sources.stop_mask)
                    if stop_sources.received >> UNAUTHENTICATED >> who & 1:
                        who += STOP_SOURCE_STRANGE
                elif cause == CAUSE_STOP_SOURCE_SILENT:
                    who = _lowest(stop_sources.missing)
                self._events.add(now_us, EVENT_STOP_LATCHED, cause, who)
        runstop.news = 0

    def faults(self, faults: "Latch", now_us: int) -> None:
        for fault in range(FAULT_COUNT):
            if faults.news >> fault & 1:
                self._events.add(now_us, EVENT_FAULT_LATCHED, fault, 0)
        faults.news = 0

    @micropython.native
    def sources(self, arbiter: "Arbiter", now_us: int) -> None:
        """Report changed winners, losers and engagements.

        On most steps nothing changes, which two comparisons of lists find out.
        """
        winners, before = arbiter.winners, self._winners
        if winners != before:
            self._note_winners(winners, now_us)
        losers, lost, engaged = arbiter.losers, self._losers, self._engaged
        are_same = losers == lost
        for source in arbiter.active:
            number = source.id
            if source.is_fresh or source.fell_silent or engaged[number]:
                self._engagement(source, now_us)
            if are_same:
                continue
            why = losers[number]
            if why != lost[number]:
                lost[number] = why
                if why:
                    self._events.add(now_us, EVENT_SOURCE_LOST, number, why - 1)

    def _note_winners(self, winners: "list[int]", now_us: int) -> None:
        before = self._winners
        for actuator in range(ACTUATOR_COUNT):
            winner = winners[actuator]
            if winner != before[actuator]:
                before[actuator] = winner
                self._events.add(now_us, EVENT_WINNER_CHANGED, actuator, winner)

    def _engagement(self, source: "Source", now_us: int) -> None:
        if source.fell_silent:
            self._events.add(now_us, EVENT_SOURCE_SILENT, source.id, source.on_silence)
        engaged, is_engaged = self._engaged, source.is_engaged()
        if is_engaged != engaged[source.id]:
            engaged[source.id] = is_engaged
            if is_engaged:
                self._events.add(now_us, EVENT_SOURCE_ENGAGED, source.id, source.slot)

    def stop_sources(self, stop_sources: "StopSources", now_us: int) -> None:
        fresh, stopped = stop_sources.fresh, stop_sources.stop_mask
        if fresh == self._fresh and stopped == self._stopped:
            return
        self._fresh, self._stopped, before = fresh, stopped, self._stop_sources
        for source in stop_sources.active:
            number = source.id
            is_there = _THERE if fresh >> number & 1 else _SILENT
            if stopped >> number & 1:
                is_there = _SAYS_STOP
            if is_there != before[number]:
                before[number] = is_there
                self._events.add(now_us, EVENT_STOP_SOURCE, number, is_there)

    def conditions(
        self, supervisor: "Supervisor", battery: "Battery", is_gyro_lost: bool, now_us: int
    ) -> None:
        """Report changes of the state, of the battery's stage and of the gyro.

        A lost gyro stops nothing: the car reckons by its steering meanwhile.
        """
        if supervisor.has_changed():
            self._events.add(now_us, EVENT_STATE_CHANGED, supervisor.before, supervisor.state)
        if battery.stage != self._stage:
            self._stage = battery.stage
            self._events.add(now_us, EVENT_BATTERY, battery.stage, battery.millivolts)
        if is_gyro_lost != self._is_gyro_lost:
            self._is_gyro_lost = is_gyro_lost
            self._events.add(now_us, EVENT_IMU, 0 if is_gyro_lost else 1, 0)

    def beat(self, overruns: "OverrunMonitor", now_us: int) -> None:
        """Report when the car begins or ceases to miss its beat, which only prevents arming."""
        is_off_beat = overruns.is_off_beat
        if is_off_beat != self._is_off_beat:
            self._is_off_beat = is_off_beat
            keeps = 0 if is_off_beat else 1
            self._events.add(now_us, EVENT_BEAT, keeps, overruns.takes_us)

    def clamped(self, source: int, bits: int, now_us: int) -> None:
        """Report a claim beyond the car's limits when it begins, not on every step it lasts."""
        if bits & ~self._clamped:
            self._events.add(now_us, EVENT_CLAMPED, source, bits)
        self._clamped = bits
