"""The small parts of the core, each against its definition."""

import math
import random

import pytest

from firmware.core import deadlines, supervisor
from firmware.core.link.events import SIZE, Events
from firmware.core.motion.limits import Slew, interpolated
from firmware.core.motion.odometry import sine
from firmware.core.stops.latch import Latch
from firmware.protocol import codes
from firmware.protocol.messages import Event
from tests.support.evidence import some

PERIOD = 1 << 30
HALF = 1 << 29


def any_times(seed: int, count: int = 20_000):
    rng = random.Random(seed)
    edges = [0, 1, HALF - 1, HALF, HALF + 1, PERIOD - 1]
    for _ in range(count):
        yield rng.choice((rng.randrange(PERIOD), rng.choice(edges)))


def test_elapsed_is_the_difference_modulo_the_period_and_never_leaves_31_bits():
    for now, then in some(zip(any_times(1), any_times(2), strict=True)):
        elapsed = deadlines.elapsed_us(now, then)
        assert (elapsed - (now - then)) % PERIOD == 0
        assert -HALF <= elapsed < HALF


def test_shifted_is_the_sum_modulo_the_period():
    for time, by in some(zip(any_times(3), any_times(4), strict=True)):
        by -= HALF
        assert deadlines.shifted_us(time, by) == (time + by) % PERIOD


@pytest.mark.parametrize("start_us", [0, PERIOD - 2_000_000, HALF - 2_000_000])
def test_a_deadline_shuts_on_time_across_every_wrap_and_stays_shut(start_us):
    deadline = deadlines.Deadline()
    deadline.set(start_us, 3_000_000)
    shut_at = None
    for step in range(200_000):  # 33 minutes, two periods
        deadline.step((start_us + step * 10_000) % PERIOD)
        if not deadline.is_open and shut_at is None:
            shut_at = step * 10_000
        assert deadline.is_open == (shut_at is None)
    assert shut_at == 3_000_000


def test_a_deadline_of_no_time_is_shut_at_once():
    deadline = deadlines.Deadline()
    deadline.set(5, 0)
    assert not deadline.is_open


def test_a_latch_keeps_its_first_cause_and_what_is_still_present_survives_a_clear():
    latch = Latch()
    latch.latch(3)
    latch.set(1, True)
    assert (latch.bits, latch.first) == (0b1010, 3)
    latch.clear()
    assert (latch.bits, latch.first) == (0b0010, 1)
    latch.set(1, False)
    assert latch.bits == 0b0010
    latch.clear()
    assert (latch.bits, latch.first) == (0, codes.NO_CAUSE)


def test_a_slew_is_exact_in_the_long_run_whatever_its_rate():
    for rate in (1, 7, 999, 1000, 123_457):
        slew = Slew()
        for _ in range(1000):
            slew.follow(1 << 29, rate, 10)
        assert slew.value == rate * 10


def test_a_slew_never_passes_its_target():
    slew = Slew()
    seen = [slew.follow(100, 3000, 10) for _ in range(10)]
    assert seen == [30, 60, 90, 100, 100, 100, 100, 100, 100, 100]


def test_interpolation_meets_the_points_and_the_line_between():
    points = [0, 100, 300, 250]
    assert [interpolated(points, 0, place, 1000, 3) for place in (0, 1000, 2000, 3000)] == points
    assert interpolated(points, 0, 1500, 1000, 3) == 200
    assert interpolated(points, 0, -50, 1000, 3) == 0
    assert interpolated(points, 0, 9999, 1000, 3) == 250


def test_sine_is_within_three_ten_thousandths():
    for angle in range(-7_000_000, 7_000_000, 9973):
        assert sine(angle) / 16384 == pytest.approx(math.sin(angle * 1e-6), abs=5e-4)


def test_events_that_overran_the_ring_are_reported_as_lost_with_their_number():
    events = Events()
    for i in range(SIZE + 5):
        events.add(i, codes.EVENT_STATE_CHANGED, i, 0)
    assert (events.lost_first, events.lost_count) == (0, 5)
    event = Event()
    numbers = []
    while events.has_unsent():
        events.fill(event)
        numbers.append((event.number, event.a))
        events.sent()
    assert numbers == [(i, i) for i in range(5, SIZE + 5)]


def test_events_can_be_asked_for_again():
    events = Events()
    for i in range(10):
        events.add(i, 0, i, 0)
        events.sent()
    events.request(7)
    event = Event()
    events.fill(event)
    assert event.number == 7
    assert events.lost_count == 0


def test_asking_for_events_that_are_still_to_come_sends_all_that_are_held_and_no_more():
    """A host that remembers the numbers of a life before this one."""
    events = Events()
    for i in range(3):
        events.add(i, 0, i, 0)
        events.sent()
    events.request(500)
    event = Event()
    numbers = []
    while events.has_unsent():
        events.fill(event)
        numbers.append(event.number)
        events.sent()
    assert numbers == [0, 1, 2]
    assert events.lost_count == 0


def test_what_one_host_asked_for_is_sent_though_another_asks_for_less():
    events = Events()
    for at in range(6):
        events.add(at, 1, 0, 0)
        events.sent()
    events.request(0)
    events.sent()
    events.request(6)  # who has heard all
    events.request(4)
    message, numbers = Event(), []
    while events.has_unsent():
        events.fill(message)
        numbers.append(message.number)
        events.sent()
    assert numbers == [1, 2, 3, 4, 5]
    events.request(4)
    assert events.next_sent == 4


# --- the supervisor, enumerated: S1 to S4 restated from SAFETY.md, not from the table

BITS = [getattr(supervisor, n) for n in (
    "STOP", "FAULTY", "READY", "AT_REST", "COMMANDED", "ARMED", "CLEARED", "DISARMED"
)]  # fmt: skip


def every_step():
    for state in range(7):
        for conditions in range(1 << len(BITS)):
            machine = supervisor.Supervisor()
            machine.state = state
            machine.step(conditions)
            yield state, conditions, machine.state


def test_active_is_entered_only_from_hold_with_no_stop_and_no_fault():
    for before, conditions, after in some(every_step()):
        if after == codes.ACTIVE and before != codes.ACTIVE:
            assert before == codes.HOLD
        if after == codes.ACTIVE:
            assert conditions & supervisor.COMMANDED
            assert not conditions & (supervisor.STOP | supervisor.FAULTY)


def test_any_stop_or_fault_leads_from_active_and_hold_to_stopping_on_the_same_step():
    for before, conditions, after in some(every_step()):
        if before in (codes.ACTIVE, codes.HOLD):
            stops = conditions & (supervisor.STOP | supervisor.FAULTY)
            assert (after == codes.STOPPING) == bool(stops)


def test_only_an_arm_leads_out_of_standby_and_only_a_clear_out_of_stopped():
    for before, conditions, after in some(every_step()):
        if before == codes.STANDBY and after == codes.HOLD:
            assert conditions & supervisor.ARMED
        if before in (codes.STOPPED, codes.FAULT) and after == codes.STANDBY:
            assert conditions & supervisor.CLEARED
            assert not conditions & (supervisor.STOP | supervisor.FAULTY)
        if before in (codes.STOPPED, codes.FAULT):
            assert after in (before, codes.STANDBY, codes.FAULT)
        if before == codes.STOPPING:
            assert after in (codes.STOPPING, codes.STOPPED, codes.FAULT)
