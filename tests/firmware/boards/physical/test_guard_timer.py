"""What the guard decides, done: the life signal and the drive's channels, hung loop or not."""

import bench as bench_module
import machine
import pytest

from firmware.boards.physical.guard_timer import TICK_HZ, GuardTimer
from firmware.core.stops.guard import RATE_LIMITED_HZ
from firmware.drivers.outputs.pwm_pulses import PwmPulses
from firmware.drivers.outputs.toggled_life import ToggledLife

bench = bench_module.bench
LOOP, ENABLE = 14, 15
LIMIT_US = 40_000
DRIVING_NS = 1_800_000
NEUTRAL_NS = 1_500_000


@pytest.fixture(autouse=True)
def _bare_bench():
    bench.reset()
    bench.levels[LOOP] = 1


class Wave:
    """A life signal that goes on by itself for its lease, as an RP2's does."""

    LEASE_US = 20_000

    def __init__(self):
        self.until_us = 0
        self.renewals = 0

    def renew(self):
        self.until_us = bench.now_us + self.LEASE_US
        self.renewals += 1

    def cut(self):
        self.until_us = 0


class Car:
    """A ring with one drive channel, its timer and its interrupt; the step is the test's."""

    def __init__(self, has_interrupt=True, is_sparing=False):
        loop = machine.Pin(LOOP, machine.Pin.IN, machine.Pin.PULL_DOWN)
        self.wave = Wave() if is_sparing else None
        life = self.wave or ToggledLife(machine.Pin(ENABLE, machine.Pin.OUT))
        self.closes_us = None
        self.looks = 0
        self.ring = GuardTimer(self.level, life, self.ticks_us)
        self.drive = PwmPulses(machine.PWM(machine.Pin(0), freq=50), NEUTRAL_NS)
        self.ring.ended = (self.drive,)
        self.ring.begin(LIMIT_US)
        if has_interrupt:
            edges = machine.Pin.IRQ_FALLING | machine.Pin.IRQ_RISING
            loop.irq(self.ring.on_edge, edges, hard=True)
        hz, on_timer = TICK_HZ, self.ring.on_timer
        if is_sparing:
            hz, on_timer = RATE_LIMITED_HZ, self.ring.rate_limited()
        machine.Timer(freq=hz, callback=on_timer, hard=True)

    def level(self):
        """The loop's. Who stays in an interrupt sees it close, though the bench stands still."""
        self.looks += 1
        has_closed = self.closes_us is not None and self.ticks_us() >= self.closes_us
        return 1 if has_closed else bench.levels[LOOP]

    def ticks_us(self):
        """A look takes ten microseconds; what the bench does in between takes none."""
        return bench.now_us + 10 * self.looks

    def open_for(self, lasts_us):
        self.looks = 0
        self.closes_us = bench.now_us + lasts_us
        bench.level(LOOP, 0)
        self.closes_us = None
        self.looks = 0
        bench.advance(lasts_us)
        bench.level(LOOP, 1)

    def step(self, enable, steps=1):
        for _ in range(steps):
            self.looks = 0
            self.ring.guard.read()
            is_gating = self.ring.write(enable)
            self.drive.put(DRIVING_NS if enable and not is_gating else NEUTRAL_NS)
            bench.advance(10_000)

    def is_alive(self):
        if self.wave:
            return bench.now_us < self.wave.until_us
        seen = set()
        for _ in range(4):
            bench.advance(1_000_000 // TICK_HZ)
            seen.add(bench.levels[ENABLE])
        return seen == {0, 1}


@pytest.fixture(params=[False, True], ids=["each_tick", "sparing"])
def car(request):
    car = Car(is_sparing=request.param)
    car.step(False)
    car.step(True, steps=5)
    assert car.is_alive()
    return car


def test_before_the_first_write_all_is_cut():
    car = Car()
    bench.advance(50_000)
    assert not car.is_alive()
    car.step(True, steps=3)
    assert not car.is_alive()
    assert car.drive.pulse_ns == NEUTRAL_NS


def test_a_drive_that_is_not_wanted_is_cut_and_that_is_no_trip(car):
    car.step(False)
    assert not car.is_alive()
    assert not car.ring.guard.is_late
    assert not car.ring.guard.is_gating


@pytest.mark.parametrize("lasts_us", [200, 1000, 50_000])
def test_an_open_loop_cuts_all_within_a_millisecond(car, lasts_us):
    if lasts_us <= 1000:
        car.open_for(lasts_us)
        bench.advance(1000 - lasts_us)
    else:
        bench.level(LOOP, 0)
        bench.advance(1000)
    assert car.drive.pulse_ns == NEUTRAL_NS
    assert not car.is_alive()


def test_a_spike_under_twenty_microseconds_cuts_nothing(car):
    car.open_for(19)
    assert car.is_alive()
    assert car.drive.pulse_ns == DRIVING_NS


@pytest.mark.parametrize("is_sparing", [False, True])
def test_the_timer_alone_sees_a_loop_whose_interrupt_never_came(is_sparing):
    car = Car(has_interrupt=False, is_sparing=is_sparing)
    car.step(False)
    car.step(True, steps=2)
    bench.levels[LOOP] = 0
    bench.advance(1000)
    assert car.drive.pulse_ns == NEUTRAL_NS
    assert not car.is_alive()


def test_a_hung_step_ends_all_and_what_it_writes_late_lives_for_a_tick(car):
    bench.advance(LIMIT_US + 1000)
    assert not car.is_alive()
    assert car.drive.pulse_ns == NEUTRAL_NS
    car.drive.put(DRIVING_NS)  # half of a write that was under way
    bench.advance(1_000_000 // (RATE_LIMITED_HZ if car.wave else TICK_HZ))
    assert car.drive.pulse_ns == NEUTRAL_NS


def test_after_a_trip_it_takes_a_step_that_has_seen_it_with_the_drive_off(car):
    bench.level(LOOP, 0)
    bench.advance(1000)
    bench.level(LOOP, 1)
    car.ring.write(False)  # a step that has not looked
    bench.advance(1000)
    car.step(True, steps=3)
    assert not car.is_alive()
    car.step(False)
    car.step(True)
    assert car.is_alive()


def test_a_ring_that_is_spared_renews_its_life_signal_long_before_it_ends():
    car = Car(is_sparing=True)
    car.step(False)
    car.step(True, steps=2)
    before = car.wave.renewals
    for _ in range(100):
        car.looks = 0
        car.ring.write(True)
        for _ in range(10):
            bench.advance(1_000)
            assert car.wave.until_us - bench.now_us >= 6_000
    assert car.wave.renewals - before <= 1_000 // 12 + 1


def test_a_ring_that_is_spared_cuts_a_drive_that_is_not_wanted_at_the_next_tick():
    car = Car(is_sparing=True)
    car.step(False)
    car.step(True, steps=2)
    car.ring.write(False)
    bench.advance(800)
    assert not car.is_alive()
