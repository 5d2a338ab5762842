"""What changed on a step becomes an event, once, with who did it."""

import pytest

from firmware.core.link.event_reporter import EventReporter
from firmware.core.link.events import Events
from firmware.core.motion.battery import Battery
from firmware.core.overrun import OverrunMonitor
from firmware.core.stops.latch import Latch
from firmware.core.stops.runstop import StopSources
from firmware.core.supervisor import Supervisor
from firmware.protocol.messages import Event
from tests.firmware.core.arbitration.offering import HELD, LIGHTS, NOBODY, PAD, SEAT, YIELDS, Bench
from tests.firmware.core.desk import params_with, sure_sessions

(STATE_CHANGED, STOP_LATCHED, FAULT_LATCHED, CLAIM_REFUSED, ACTION_TAKEN, ACTION_REFUSED,
 SOURCE_ENGAGED, SOURCE_SILENT, SESSION_BOUND, CLOCK_STEPPED, CONFIGURED, WINNER_CHANGED,
 SOURCE_LOST, STARTED, PROFILE, SPEED_CAP, STOP_SOURCE, BATTERY, CLAMPED,
 IMU, BEAT) = range(21)  # fmt: skip
(RUNSTOP_LOOP, STOP_REQUEST, FROZEN, SILENCE, CLOCK_STEP, CLOCK_UNSURE, CHARGER, EMPTY, OVERRUN,
 UNATTENDED, SAYS_STOP, IS_SILENT, STAND_OVER) = range(13)  # fmt: skip
SENDER = 3
IS_GONE, IS_THERE, STOPS = 0, 1, 2


class Notes:
    """An event reporter, and the events that it wrote since the last look."""

    def __init__(self) -> None:
        self.events = Events()
        self.event_reporter = EventReporter(self.events)
        self.bench = Bench()
        self.stop_sources = StopSources(sure_sessions())
        self.stop_sources.configure(params_with(stop_source_kind=[1, 0, 3, 3]))

    def read(self) -> list[tuple[int, ...]]:
        found = []
        while self.events.has_unsent():
            event = Event()
            self.events.fill(event)
            self.events.sent()
            assert event.time_us == 5
            found.append((event.code, event.a, event.b))
        return found

    def stops(self, runstop: Latch) -> list[tuple[int, ...]]:
        self.event_reporter.stops(runstop, self.bench.arbiter, self.stop_sources, SENDER, 5)
        return self.read()

    def sources(self) -> list[tuple[int, ...]]:
        self.event_reporter.sources(self.bench.arbiter, 5)
        return self.read()

    def of_stop_sources(self, fresh: int, stopped: int) -> list[tuple[int, ...]]:
        self.stop_sources.fresh, self.stop_sources.stop_mask = fresh, stopped
        self.event_reporter.stop_sources(self.stop_sources, 5)
        return self.read()


@pytest.fixture
def notes():
    return Notes()


@pytest.mark.parametrize(
    ("cause", "who"),
    [
        (RUNSTOP_LOOP, NOBODY), (STOP_REQUEST, SENDER), (FROZEN, PAD), (SILENCE, SEAT),
        (CLOCK_STEP, NOBODY), (CLOCK_UNSURE, NOBODY), (CHARGER, NOBODY), (EMPTY, NOBODY),
        (OVERRUN, NOBODY), (UNATTENDED, NOBODY), (SAYS_STOP, 2), (IS_SILENT, 5),
        (STAND_OVER, NOBODY),
    ],
)  # fmt: skip
def test_each_cause_is_said_once_with_who_brought_it(notes, cause, who):
    notes.bench.arbiter.frozen_source, notes.bench.arbiter.silent_source = PAD, SEAT
    notes.stop_sources.stop_mask, notes.stop_sources.missing = 0b1100, 0b1100000
    runstop = Latch()
    runstop.latch(cause)
    assert notes.stops(runstop) == [(STOP_LATCHED, cause, who)]
    assert (notes.stops(runstop), runstop.bits, runstop.news) == ([], 1 << cause, 0)


def test_a_stop_of_a_source_that_nobody_knows_any_more_is_nobodys(notes):
    runstop = Latch()
    runstop.latch(SAYS_STOP)
    runstop.latch(IS_SILENT)
    assert notes.stops(runstop) == [
        (STOP_LATCHED, SAYS_STOP, NOBODY), (STOP_LATCHED, IS_SILENT, NOBODY),
    ]  # fmt: skip


def test_the_first_and_the_last_stop_source_have_their_names(notes):
    for bits, who in ((0b1, 0), (0b11, 0), (1 << 15, 15)):
        runstop = Latch()
        runstop.latch(SAYS_STOP)
        notes.stop_sources.stop_mask = bits
        assert notes.stops(runstop) == [(STOP_LATCHED, SAYS_STOP, who)]


def test_every_fault_is_said_once(notes):
    faults = Latch()
    for fault in range(11):
        faults.latch(fault)
    for expected in ([(FAULT_LATCHED, fault, 0) for fault in range(11)], []):
        notes.event_reporter.faults(faults, 5)
        assert notes.read() == expected
    assert faults.bits == 0b11111111111


def test_a_state_is_said_with_the_one_before_it(notes):
    supervisor = Supervisor()
    notes.event_reporter.conditions(supervisor, Battery(), False, 5)
    assert notes.read() == []
    supervisor.before, supervisor.state = 1, 3
    notes.event_reporter.conditions(supervisor, Battery(), False, 5)
    assert notes.read() == [(STATE_CHANGED, 1, 3)]


def test_a_source_is_followed_from_engaged_to_silent(notes):
    bench = notes.bench
    assert notes.sources() == []
    bench.say(PAD, mask=LIGHTS, deadman=0)
    bench.step()
    assert notes.sources() == [(SOURCE_LOST, PAD, LIGHTS << 8 | 2)]
    bench.say(PAD, mask=LIGHTS | 2, deadman=0)
    bench.step()
    assert notes.sources() == [(SOURCE_LOST, PAD, (LIGHTS | 2) << 8 | 2)]
    bench.say(PAD, mask=LIGHTS | 2)
    bench.step()
    assert notes.sources() == [
        (WINNER_CHANGED, 1, PAD), (WINNER_CHANGED, 3, PAD), (SOURCE_ENGAGED, PAD, 0),
    ]  # fmt: skip
    bench.say(PAD, mask=2)
    bench.step()
    assert notes.sources() == [(WINNER_CHANGED, 3, NOBODY)]
    bench.step(200)
    assert notes.sources() == [
        (WINNER_CHANGED, 1, NOBODY), (SOURCE_SILENT, PAD, 0), (SOURCE_LOST, PAD, 2 << 8 | 1),
    ]  # fmt: skip
    bench.step()
    assert notes.sources() == []


def test_who_yields_when_it_falls_silent_is_said_to(notes):
    notes.bench.arbiter.sources[SEAT].on_silence = YIELDS
    notes.bench.say(SEAT, deadman=HELD)
    notes.bench.step()
    notes.sources()
    notes.bench.step(200)
    assert (SOURCE_SILENT, SEAT, 1) in notes.sources()


def test_a_stop_source_that_comes_goes_or_says_stop_is_said(notes):
    assert notes.of_stop_sources(0, 0) == []
    assert notes.of_stop_sources(0b101, 0) == [(STOP_SOURCE, 0, IS_THERE), (STOP_SOURCE, 2, 1)]
    assert notes.of_stop_sources(0b101, 0) == []
    assert notes.of_stop_sources(0b1101, 0b1100) == [(STOP_SOURCE, 2, STOPS), (STOP_SOURCE, 3, 2)]
    assert notes.of_stop_sources(0b1001, 0) == [(STOP_SOURCE, 2, IS_GONE), (STOP_SOURCE, 3, 1)]
    assert notes.of_stop_sources(0b1001, 0b1) == [(STOP_SOURCE, 0, STOPS)]


def test_a_stage_of_the_battery_is_said_with_its_voltage(notes):
    battery = Battery()
    for stage, millivolts, expected in (
        (0, 8000, []), (1, 7000, [(BATTERY, 1, 7000)]), (1, 6900, []),
        (2, 6000, [(BATTERY, 2, 6000)]), (0, 8000, [(BATTERY, 0, 8000)]),
    ):  # fmt: skip
        battery.stage, battery.millivolts = stage, millivolts
        notes.event_reporter.conditions(Supervisor(), battery, False, 5)
        assert notes.read() == expected


def test_an_imu_is_said_to_be_lost_and_to_be_there_again_once_each(notes):
    seen = []
    for is_lost in (False, True, True, False, False):
        notes.event_reporter.conditions(Supervisor(), Battery(), is_lost, 5)
        seen.append(notes.read())
    assert seen == [[], [(IMU, 0, 0)], [], [(IMU, 1, 0)], []]


def test_a_beat_is_said_to_be_missed_too_often_and_to_be_kept_again_once_each(notes):
    overruns, seen = OverrunMonitor(), []
    overruns.takes_us = 11_400
    for is_off_beat in (False, True, True, False, False):
        overruns.is_off_beat = is_off_beat
        notes.event_reporter.beat(overruns, 5)
        seen.append(notes.read())
    assert seen == [[], [(BEAT, 0, 11_400)], [], [(BEAT, 1, 11_400)], []]


def test_a_clamped_claim_is_said_when_it_begins(notes):
    seen = []
    for bits in (0, 1, 1, 3, 2, 0, 2):
        notes.event_reporter.clamped(PAD, bits, 5)
        seen.append(notes.read())
    begins = [[(CLAMPED, PAD, bits)] for bits in (1, 3, 2)]
    assert seen == [[], begins[0], [], begins[1], [], [], begins[2]]
