"""The relay's life signal ends unaided: when it is not renewed, and when the runstop opens."""

import itertools

import pytest

from firmware.drivers.outputs import rp2_life_signal, rp2_pulses
from firmware.drivers.outputs.rp2_life_signal import WAVE_US, LifeSignal
from firmware.drivers.wheels import rp2_quadrature
from tests.firmware.drivers.pio.emulated import EmulatedMachine, pulses_of

CYCLE_NS = 1_000_000_000 // 128_000  # 7812.5, to the ns
MS = 1_000_000


def signal(lease_us):
    machine = EmulatedMachine(rp2_life_signal.life_signal, set_base=1, jmp_pin=0, cycle_ns=CYCLE_NS)
    machine.inputs = 1
    return machine, LifeSignal(machine, lease_us)


def test_it_is_low_until_it_is_renewed():
    machine, _ = signal(20_000)
    machine.run_until(50 * MS)
    assert machine.edges == []


def test_it_is_a_square_wave_while_it_is_renewed():
    machine, life = signal(20_000)
    for end_ms in range(10, 101, 10):
        life.renew()
        machine.run_until(end_ms * MS)
    waves = pulses_of(machine.edges)
    periods = {b - a for (a, _), (b, _) in itertools.pairwise(waves)}
    assert periods == {64 * CYCLE_NS}
    assert len(waves) == 100 * 1000 // WAVE_US
    assert {high for _, high in waves} == {32 * CYCLE_NS}


def test_it_ends_low_within_its_lease_when_renewal_stops():
    machine, life = signal(20_000)
    life.renew()
    machine.run_until(100 * MS)
    assert len(machine.edges) == 2 * 20_000 // WAVE_US
    at_ns, level = machine.edges[-1]
    assert level == 0
    assert at_ns <= 20 * MS


def test_it_ends_within_a_wave_when_the_runstop_opens_whatever_is_put():
    machine, life = signal(100_000)
    life.renew()
    machine.run_until(10 * MS)
    machine.inputs = 0
    opened_ns = machine.now_ns
    while machine.now_ns < 50 * MS:
        life.renew()
        machine.run_until(machine.now_ns + 5 * MS)
    at_ns, level = machine.edges[-1]
    assert level == 0
    assert at_ns - opened_ns <= WAVE_US * 1000


def test_no_spike_under_20_us_ends_it_at_any_moment_of_a_wave():
    for phase_us in range(0, WAVE_US, 3):
        machine, life = signal(20_000)
        life.renew()
        machine.run_until(MS + phase_us * 1000)
        machine.inputs = 0
        machine.run_until(machine.now_ns + 19_000)
        machine.inputs = 1
        machine.run_until(4 * MS)
        assert len(pulses_of(machine.edges)) >= 6, phase_us


def test_it_can_be_cut_within_two_waves():
    machine, life = signal(100_000)
    life.renew()
    machine.run_until(10 * MS)
    life.renew()
    life.cut()
    machine.run_until(30 * MS)
    at_ns, level = machine.edges[-1]
    assert level == 0
    assert at_ns <= 11 * MS


def test_a_wave_is_what_the_frequency_gives():
    assert rp2_life_signal.FREQ_HZ * WAVE_US == 64 * 1_000_000


def test_to_cut_never_waits_and_comes_once():
    machine, life = signal(20_000)
    machine.active(0)
    machine.sent[:] = [0] * 4
    life.renew()
    life.cut()  # the virtual machine raises where the chip would wait
    machine.sent.clear()
    for _ in range(9):
        life.cut()
    assert machine.tx_fifo() == 1


def test_cut_again_and_again_at_rest_it_makes_no_wave():
    machine, life = signal(20_000)
    for ms in range(20):
        life.cut()
        machine.run_until((ms + 1) * MS)
    assert machine.edges == []


def test_pulses_and_life_signal_share_one_pio_and_quadrature_fits_another():
    lengths = [
        len(program.opcodes)
        for program in (rp2_pulses.pulses, rp2_life_signal.life_signal, rp2_quadrature.quadrature)
    ]
    assert lengths == [20, 10, 23]  # as the drivers' README.md says
    assert sum(lengths[:2]) <= 32


@pytest.mark.parametrize("lease_us", [999, 100_001])
def test_an_impossible_lease_is_refused(lease_us):
    machine, _ = signal(1000)
    with pytest.raises(ValueError, match="1000 to 100000"):
        LifeSignal(machine, lease_us)
