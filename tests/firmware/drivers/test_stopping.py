"""The runstop loop, the enable with its life signal, the contact, and the guard over them."""

import bench as bench_module
import machine
import pytest

from firmware.drivers.enable_relay import RelayContact, ToggledLife
from firmware.drivers.guard import Guard
from firmware.drivers.pps import Pps
from firmware.drivers.runstop_loop import RunstopLoop

bench = bench_module.bench
LOOP, ENABLE, CONTACT = 14, 15, 16
LIMIT_US = 50_000


@pytest.fixture(autouse=True)
def _bare_bench():
    bench.reset()
    bench.levels[LOOP] = 1


class Ticks:
    """Time that passes while it is looked at, and a loop that closes again meanwhile."""

    def __init__(self):
        self.closes_us = None

    def __call__(self):
        bench.now_us += 2
        if self.closes_us is not None and bench.now_us >= self.closes_us:
            bench.levels[LOOP] = 1
        return bench.now_us


def loop():
    ticks = Ticks()
    pin = machine.Pin(LOOP, machine.Pin.IN, machine.Pin.PULL_DOWN)
    runstop = RunstopLoop(pin, ticks)
    pin.irq(runstop.on_edge, machine.Pin.IRQ_FALLING, hard=True)
    return ticks, runstop


@pytest.mark.parametrize(
    ("late_us", "lasts_us", "is_taken"),
    [(0, 15, False), (0, 19, False), (0, 40, True), (100, 200, True), (30, 20, False)],
)
def test_short_openings_are_noise_and_200_us_are_taken_however_late(late_us, lasts_us, is_taken):
    ticks, runstop = loop()
    ticks.closes_us = bench.now_us + lasts_us
    bench.levels[LOOP] = 0
    bench.now_us += late_us
    if bench.now_us >= ticks.closes_us:
        bench.levels[LOOP] = 1
    was_over = bench.levels[LOOP] == 1
    runstop.on_edge(None)
    assert runstop.was_opened == is_taken
    assert runstop.is_closed != is_taken
    assert runstop.glitches == (not is_taken and not was_over)


def test_the_filter_waits_twenty_microseconds_and_no_longer():
    looks = []

    def ticks():
        looks.append(len(looks) + 100)
        return looks[-1]

    bench.levels[LOOP] = 0
    runstop = RunstopLoop(machine.Pin(LOOP, machine.Pin.IN), ticks)
    runstop.sample()
    assert looks[-1] - looks[0] == 20
    assert runstop.glitches == 0


def test_the_interrupt_alone_takes_an_open_loop_and_it_stays_taken():
    _, runstop = loop()
    assert not runstop.was_opened
    bench.level(LOOP, 0)
    assert (runstop.is_closed, runstop.was_opened) == (False, True)
    runstop.forget()
    assert runstop.was_opened
    bench.level(LOOP, 1)
    runstop.sample()
    assert (runstop.is_closed, runstop.was_opened) == (True, True)
    runstop.forget()
    assert not runstop.was_opened


def test_a_loop_that_is_open_at_the_start_is_open():
    bench.levels[LOOP] = 0
    _, runstop = loop()
    assert runstop.was_opened


def test_a_life_signal_begins_low_and_after_a_cut_begins_anew():
    bench.levels[ENABLE] = 1
    signal = life()
    assert bench.levels[ENABLE] == 0
    signal.renew()
    signal.toggle()
    assert bench.levels[ENABLE] == 1
    signal.cut()
    signal.renew()
    signal.toggle()
    assert bench.levels[ENABLE] == 1


@pytest.mark.parametrize("wanted", [True, False])
def test_a_contact_gets_its_time_from_the_first_step_on(wanted):
    contact = RelayContact(machine.Pin(CONTACT, machine.Pin.IN), 30_000)
    assert not contact.is_closed
    bench.level(CONTACT, 1 - wanted)
    if not wanted:
        contact.step(39_999, True)
    contact.step(40_000, wanted)
    contact.step(70_000, wanted)
    assert not contact.is_broken
    assert not contact.is_welded
    contact.step(70_001, wanted)
    assert contact.is_broken == wanted
    assert contact.is_welded != wanted


def test_a_contact_that_follows_again_is_well():
    contact = RelayContact(machine.Pin(CONTACT, machine.Pin.IN), 30_000)
    assert not contact.is_welded
    bench.level(CONTACT, 1)
    for now_us in (0, 40_000):
        contact.step(now_us, False)
    assert contact.is_welded
    bench.level(CONTACT, 0)
    contact.step(50_000, False)
    assert not contact.is_welded
    bench.level(CONTACT, 1)
    contact.step(80_000, False)
    assert not contact.is_welded


def life(toggles=5):
    return ToggledLife(machine.Pin(ENABLE, machine.Pin.OUT), toggles)


def test_a_life_signal_lasts_as_long_as_its_lease_and_ends_low():
    signal = life()
    levels = []
    for n in range(12):
        if n == 2:
            signal.renew()
        signal.toggle()
        levels.append(bench.levels[ENABLE])
    assert levels == [0, 0, 1, 0, 1, 0, 1, 0, 0, 0, 0, 0]
    signal.renew()
    signal.toggle()
    signal.cut()
    signal.toggle()
    assert bench.levels[ENABLE] == 0


@pytest.mark.parametrize(
    ("wanted", "closed", "welded", "broken"),
    [
        (True, 1, False, False),
        (False, 0, False, False),
        (False, 1, True, False),
        (True, 0, False, True),
    ],
)
def test_a_contact_that_does_not_follow_is_welded_or_broken(wanted, closed, welded, broken):
    contact = RelayContact(machine.Pin(CONTACT, machine.Pin.IN), 30_000)
    contact.step(0, not wanted)
    bench.level(CONTACT, closed)
    contact.step(1000, wanted)
    contact.step(31_000, wanted)
    assert not contact.is_welded
    assert not contact.is_broken
    contact.step(31_001, wanted)
    assert (contact.is_closed, contact.is_welded, contact.is_broken) == (
        closed == 1,
        welded,
        broken,
    )


def guarded():
    ticks, runstop = loop()
    signal = life(toggles=20)
    guard = Guard(signal, runstop, ticks, LIMIT_US)

    def on_timer(timer):
        guard.on_timer(timer)
        signal.toggle()

    machine.Timer(freq=1000, callback=on_timer, hard=True)
    return guard, runstop


def is_alive():
    """The enable toggled within two periods of the timer."""
    seen = set()
    for _ in range(3):
        bench.advance(1000)
        seen.add(bench.levels[ENABLE])
    return seen == {0, 1}


def drive(guard, for_us):
    end_us = bench.now_us + for_us
    while bench.now_us < end_us:
        guard.beat(bench.now_us, True)
        bench.advance(10_000)


def test_the_enable_lives_while_the_step_beats_and_wants_it():
    guard, _ = guarded()
    bench.advance(30_000)
    assert not is_alive()
    drive(guard, 200_000)
    assert is_alive()
    guard.beat(bench.now_us, False)
    bench.advance(25_000)
    assert not is_alive()
    assert not guard.has_tripped


def test_a_hung_step_ends_the_enable_within_100_ms_and_it_does_not_come_back_by_itself():
    guard, _ = guarded()
    drive(guard, 100_000)
    bench.advance(90_000)
    assert not is_alive()
    assert guard.has_tripped
    drive(guard, 100_000)
    assert not is_alive()
    guard.rearm()
    drive(guard, 100_000)
    assert is_alive()


def test_an_open_loop_ends_the_enable_with_the_step_still_beating():
    guard, runstop = guarded()
    drive(guard, 100_000)
    bench.level(LOOP, 0)
    bench.advance(1000)
    assert bench.levels[ENABLE] == 0
    assert guard.has_tripped
    drive(guard, 30_000)
    assert not is_alive()
    bench.level(LOOP, 1)
    drive(guard, 50_000)
    assert not is_alive()
    assert runstop.was_opened


def test_the_timer_sees_an_open_loop_whose_interrupt_never_came():
    guard, _ = guarded()
    drive(guard, 100_000)
    bench.levels[LOOP] = 0
    bench.advance(1000)
    assert guard.has_tripped
    assert bench.levels[ENABLE] == 0


def test_after_a_trip_it_takes_a_rearm_and_a_beat():
    guard, _ = guarded()
    drive(guard, 100_000)
    bench.level(LOOP, 0)
    bench.advance(1000)
    bench.level(LOOP, 1)
    guard.rearm()
    bench.advance(5000)
    assert not is_alive()
    drive(guard, 50_000)
    assert is_alive()


@pytest.mark.parametrize(("waited_us", "has_tripped"), [(LIMIT_US, False), (LIMIT_US + 1, True)])
def test_the_limit_is_exact(waited_us, has_tripped):
    now = [0]
    _, runstop = loop()
    guard = Guard(life(), runstop, lambda: now[0], LIMIT_US)
    guard.beat(0, True)
    now[0] = waited_us
    guard.on_timer(None)
    assert guard.has_tripped == has_tripped


# --- PPS -------------------------------------------------------------------------------------


def test_whole_seconds_are_told_and_noise_is_refused():
    pps = Pps(lambda: 0)
    pps.edge(400_000)  # noise before the first
    for second in range(1, 6):
        pps.edge(second * 1_000_100)
        pps.edge(second * 1_000_100 + 300)
    pps.step(5_000_600)
    assert (pps.count, pps.second_us, pps.refused) == (3, 5_000_500, 6)
    assert pps.hearing.is_fresh
    pps.step(7_500_501)
    assert not pps.hearing.is_fresh


def test_a_missing_second_breaks_the_count_but_not_the_next_ones():
    pps = Pps(lambda: 0)
    for at_us in (0, 1_000_000, 3_000_000, 4_000_000):
        pps.edge(at_us)
    assert (pps.count, pps.second_us, pps.refused) == (2, 4_000_000, 0)


@pytest.mark.parametrize(
    ("gap_us", "counts", "refused"),
    [(999_499, 0, 1), (999_500, 1, 0), (1_000_500, 1, 0), (1_000_501, 0, 0)],
)
def test_a_second_is_one_within_500_us(gap_us, counts, refused):
    pps = Pps(lambda: 0)
    pps.step(0)
    assert not pps.hearing.is_fresh
    pps.edge(10)
    pps.edge(10 + gap_us)
    pps.step(10 + gap_us)
    assert (pps.count, pps.refused, pps.hearing.is_fresh) == (counts, refused, counts == 1)
    pps.step(10 + gap_us + 2_500_000)
    assert pps.hearing.is_fresh == (counts == 1)
    pps.step(10 + gap_us + 2_500_001)
    assert not pps.hearing.is_fresh
