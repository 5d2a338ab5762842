"""What the guard decides, done: the life signal and the drive's channels, hung loop or not."""

import bench as bench_module
import machine
import pytest

from firmware.boards.ring_1 import TICK_HZ, Ring1
from firmware.drivers.pwm_pulses import PwmPulses
from firmware.drivers.toggled_life import ToggledLife

bench = bench_module.bench
LOOP, ENABLE = 14, 15
LIMIT_US = 40_000
DRIVING_NS = 1_800_000
NEUTRAL_NS = 1_500_000


@pytest.fixture(autouse=True)
def _bare_bench():
    bench.reset()
    bench.levels[LOOP] = 1


class Car:
    """A ring with one drive channel, its timer and its interrupt; the step is the test's."""

    def __init__(self, has_interrupt=True):
        loop = machine.Pin(LOOP, machine.Pin.IN, machine.Pin.PULL_DOWN)
        life = ToggledLife(machine.Pin(ENABLE, machine.Pin.OUT))
        self.ring = Ring1(loop, life, lambda: bench.now_us)
        self.drive = PwmPulses(machine.PWM(machine.Pin(0), freq=50), NEUTRAL_NS)
        self.ring.ended = (self.drive,)
        self.ring.guard.begin(LIMIT_US)
        if has_interrupt:
            edges = machine.Pin.IRQ_FALLING | machine.Pin.IRQ_RISING
            loop.irq(self.ring.on_edge, edges, hard=True)
        machine.Timer(freq=TICK_HZ, callback=self.ring.on_timer, hard=True)

    def step(self, enable, steps=1):
        for _ in range(steps):
            self.ring.guard.read()
            self.ring.write(enable)
            self.drive.put(DRIVING_NS if enable and not self.ring.guard.is_gating else NEUTRAL_NS)
            bench.advance(10_000)

    def is_alive(self):
        seen = set()
        for _ in range(4):
            bench.advance(1_000_000 // TICK_HZ)
            seen.add(bench.levels[ENABLE])
        return seen == {0, 1}


@pytest.fixture
def car():
    car = Car()
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
    bench.level(LOOP, 0)
    bench.advance(min(lasts_us, 1000))
    if lasts_us <= 1000:
        bench.level(LOOP, 1)
        bench.advance(1000 - lasts_us)
    assert car.drive.pulse_ns == NEUTRAL_NS
    assert not car.is_alive()


def test_a_spike_under_twenty_microseconds_cuts_nothing(car):
    bench.level(LOOP, 0)
    bench.advance(19)
    bench.level(LOOP, 1)
    assert car.is_alive()
    assert car.drive.pulse_ns == DRIVING_NS


def test_the_timer_alone_sees_a_loop_whose_interrupt_never_came():
    car = Car(has_interrupt=False)
    car.step(False)
    car.step(True, steps=2)
    bench.levels[LOOP] = 0
    bench.advance(1000)
    assert car.drive.pulse_ns == NEUTRAL_NS
    assert not car.is_alive()


def test_a_hung_step_ends_all_and_what_it_writes_late_lives_half_a_millisecond(car):
    bench.advance(LIMIT_US + 1000)
    assert not car.is_alive()
    assert car.drive.pulse_ns == NEUTRAL_NS
    car.drive.put(DRIVING_NS)  # half of a write that was under way
    bench.advance(500)
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
