"""The quick models of the PIO programs, held against the programs in the emulator."""

import random

import pytest
from bench import bench
from pio_metal import LifeMetal, PulsesMetal

from firmware.drivers.outputs import rp2_life_signal, rp2_pulses
from firmware.drivers.outputs.rp2_life_signal import LifeSignal
from firmware.drivers.outputs.rp2_pulses import TICK_NS, Pulses
from tests.firmware.drivers.pio.emulated import EmulatedMachine, pulses_of

LOOP = 0
MS = 1_000_000
NEUTRAL_NS = 600_000  # short, for the emulator's sake


class Quick:
    """A machine of which the model takes the words."""

    def __init__(self):
        self.sent = []
        self.is_active = False

    def tx_fifo(self):
        return len(self.sent)

    def put(self, word):
        self.sent.append(word)

    def active(self, value):
        self.is_active = bool(value)


@pytest.mark.exhaustive
@pytest.mark.parametrize("seed", range(3))
def test_pulses_are_those_of_the_program(seed):
    bench.reset()
    bench.levels[LOOP] = 1
    chance = random.Random(seed)
    real = EmulatedMachine(rp2_pulses.pulses, set_base=1, cycle_ns=TICK_NS)
    quick = Quick()
    drivers = [Pulses(machine, 5000, NEUTRAL_NS, 3) for machine in (real, quick)]
    metal = PulsesMetal(quick, LOOP, bench)
    seen = []
    for ms in range(120):
        draw = chance.randrange(12)
        pulse_ns = chance.randrange(600_000, 1_000_000)
        if draw == 0:
            bench.levels[LOOP] ^= 1
        for driver in drivers if draw > 6 else ():
            driver.renew(pulse_ns)
        for driver in drivers if draw == 1 else ():
            driver.end()
        real.inputs = bench.levels[LOOP]
        before = metal._next_us
        metal.advance(ms * 1000 + 500)
        if metal._next_us != before:
            seen.append(metal.pulse_ns)
        real.run_until(ms * MS + MS // 2)
    widths = [width for _, width in pulses_of(real.edges)]
    assert len(widths) > 15
    assert [near(a) for a in seen[: len(widths)]] == [near(b) for b in widths]


def near(pulse_ns):
    """An open loop makes the program's pulse a tick longer."""
    return round(pulse_ns / 1000)


@pytest.mark.parametrize("cut", [False, True])
def test_the_life_signal_lasts_as_long_as_the_programs(cut):
    bench.reset()
    bench.levels[LOOP] = 1
    real = EmulatedMachine(
        rp2_life_signal.life_signal, set_base=1, jmp_pin=LOOP, cycle_ns=1_000_000_000 // 128_000
    )
    real.inputs = 1
    quick = Quick()
    metal = LifeMetal(quick, LOOP, bench)
    drivers = [LifeSignal(machine, 20_000) for machine in (real, quick)]
    for ms in range(60):
        for driver in drivers:
            if ms < 30 and ms % 5 == 0:
                driver.renew()
            if cut and ms == 12:
                driver.cut()
            if cut and 12 <= ms < 30:
                driver.cut()
        metal.advance(ms * 1000)
        real.run_until(ms * MS)
    last_us = real.edges[-1][0] // 1000
    assert abs(last_us - metal.fed_us) <= 1500
