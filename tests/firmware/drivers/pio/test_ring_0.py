"""The programs, the guard and the step together: what is left when part of it dies, and how fast.

The numbers are those that the car promises: 1 ms for the runstop, 100 ms for a hung processor.
"""

import bench as bench_module
import machine
import pytest

from firmware.boards.physical.guard_timer import TICK_HZ, GuardTimer
from firmware.drivers.outputs import rp2_life_signal, rp2_pulses
from firmware.drivers.outputs.rp2_life_signal import WAVE_US, LifeSignal
from firmware.drivers.outputs.rp2_pulses import TICK_NS, Pulses
from tests.firmware.drivers.pio.emulated import EmulatedMachine, pulses_of

bench = bench_module.bench
LOOP, OUTPUT = 0, 1
NEUTRAL_NS = 600_000  # short, for the emulator's sake
DRIVING_NS = 700_000
FRAME_MS = 10
MS = 1_000_000


class Car:
    """A step at 100 Hz, a guard at 2 kHz, one drive channel and the enable."""

    def __init__(self):
        bench.reset()
        bench.levels[LOOP] = 1
        self.drive = EmulatedMachine(rp2_pulses.pulses, set_base=OUTPUT, cycle_ns=TICK_NS)
        self.enable = EmulatedMachine(rp2_life_signal.life_signal, set_base=OUTPUT, cycle_ns=7812)
        self.machines = (self.drive, self.enable)
        self.pulses = Pulses(self.drive, FRAME_MS * 1000, NEUTRAL_NS, frames=5)
        life = LifeSignal(self.enable, 20_000)
        self.ring = GuardTimer(machine.Pin(LOOP, machine.Pin.IN), life, self.ticks_us)
        self.ring.ended = (self.pulses,)
        self.ring.guard.begin(40_000)
        self.ring.guard.read()
        self.ring.write(False)  # opens the gate
        self.ms = 0

    def ticks_us(self):
        bench.now_us += 1
        return bench.now_us

    def run(self, until_ms, *, steps=True, guards=True):
        """``steps``, ``guards``: whether these still run."""
        while self.ms < until_ms:
            if steps and self.ms % 10 == 0:
                self.pulses.renew(DRIVING_NS)
                self.ring.write(True)
            for _ in range(TICK_HZ // 1000 if guards else 0):
                self.ring.on_timer(None)
            self.ms += 1
            bench.now_us = self.ms * 1000
            for each in self.machines:
                each.inputs = bench.levels[LOOP]
                each.run_until(self.ms * MS)

    def enabled_until_ms(self):
        return self.enable.edges[-1][0] / MS

    def driven_until_ms(self):
        """When the last pulse that was not neutral had passed."""
        ends = [at + long for at, long in pulses_of(self.drive.edges) if long == DRIVING_NS]
        return max(ends) / MS


@pytest.fixture
def car():
    car = Car()
    car.run(60)
    assert car.enabled_until_ms() > 59
    assert car.driven_until_ms() > 50
    return car


def test_with_the_step_hung_all_is_quiet_within_100_ms(car):
    car.run(170, steps=False)
    assert car.enabled_until_ms() <= 60 + 42
    assert car.driven_until_ms() <= 160
    assert car.ring.guard.is_late


def test_with_the_processor_dead_all_is_quiet_within_100_ms(car):
    car.run(170, steps=False, guards=False)
    assert car.enabled_until_ms() <= 60 + 20 + 1
    assert car.driven_until_ms() <= 160


@pytest.mark.parametrize("guards", [True, False])
@pytest.mark.parametrize("steps", [True, False])
def test_an_open_runstop_ends_the_enable_in_1_ms_and_the_pulses_in_a_frame(car, steps, guards):
    bench.levels[LOOP] = 0
    car.run(100, steps=steps, guards=guards)
    assert car.enabled_until_ms() <= 60 + 2 * WAVE_US / 1000
    assert car.driven_until_ms() <= 60 + FRAME_MS
    assert car.enable.edges[-1][1] == 0


def test_while_nothing_is_wrong_it_goes_on(car):
    car.run(120)
    assert car.enabled_until_ms() > 119
    assert car.driven_until_ms() > 110
