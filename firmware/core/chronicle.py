"""Turns what changed on a step into events."""

from firmware.compat import TYPE_CHECKING
from firmware.core.params import SOURCES
from firmware.protocol.codes import (
    ACTUATOR_COUNT,
    CAUSE_COUNT,
    CAUSE_FROZEN_INPUT,
    CAUSE_SILENCE,
    CAUSE_STOP_REQUEST,
    EVENT_FAULT_LATCHED,
    EVENT_SOURCE_ENGAGED,
    EVENT_SOURCE_LOST,
    EVENT_SOURCE_SILENT,
    EVENT_STATE_CHANGED,
    EVENT_STOP_LATCHED,
    EVENT_WINNER_CHANGED,
    FAULT_COUNT,
    NOBODY,
)

if TYPE_CHECKING:
    from firmware.core.arbiter import Arbiter
    from firmware.core.events import Events
    from firmware.core.latch import Latch
    from firmware.core.supervisor import Supervisor


class Chronicle:
    def __init__(self, events: "Events") -> None:
        self._events = events
        self._winners = [NOBODY] * ACTUATOR_COUNT
        self._losers = [0] * SOURCES
        self._engaged = [False] * SOURCES

    def stops(self, runstop: "Latch", arbiter: "Arbiter", sender: int, now_us: int) -> None:
        """The causes that were latched since the last time, each with who brought it."""
        for cause in range(CAUSE_COUNT):
            if runstop.news >> cause & 1:
                who = NOBODY
                if cause == CAUSE_FROZEN_INPUT:
                    who = arbiter.frozen_source
                elif cause == CAUSE_SILENCE:
                    who = arbiter.silent_source
                elif cause == CAUSE_STOP_REQUEST:
                    who = sender
                self._events.add(now_us, EVENT_STOP_LATCHED, cause, who)
        runstop.news = 0

    def faults(self, faults: "Latch", now_us: int) -> None:
        for fault in range(FAULT_COUNT):
            if faults.news >> fault & 1:
                self._events.add(now_us, EVENT_FAULT_LATCHED, fault, 0)
        faults.news = 0

    def state(self, supervisor: "Supervisor", now_us: int) -> None:
        if supervisor.has_changed():
            self._events.add(now_us, EVENT_STATE_CHANGED, supervisor.before, supervisor.state)

    def sources(self, arbiter: "Arbiter", now_us: int) -> None:
        for actuator in range(ACTUATOR_COUNT):
            winner = arbiter.winners[actuator]
            if winner != self._winners[actuator]:
                self._winners[actuator] = winner
                self._events.add(now_us, EVENT_WINNER_CHANGED, actuator, winner)
        for source in arbiter.active:
            if source.fell_silent:
                self._events.add(now_us, EVENT_SOURCE_SILENT, source.id, source.on_silence)
            if source.is_engaged() != self._engaged[source.id]:
                self._engaged[source.id] = source.is_engaged()
                if source.is_engaged():
                    self._events.add(now_us, EVENT_SOURCE_ENGAGED, source.id, source.slot)
            why = arbiter.losers[source.id]
            if why != self._losers[source.id]:
                self._losers[source.id] = why
                if why:
                    self._events.add(now_us, EVENT_SOURCE_LOST, source.id, why - 1)
