"""Pulses at start, in steady state, when renewal stops, when the runstop opens."""

import itertools

import pytest

from firmware.drivers.outputs import rp2_pulses
from firmware.drivers.outputs.rp2_pulses import TICK_NS, Pulses
from tests.firmware.drivers.pio.emulated import EmulatedMachine, pulses_of

RUNSTOP = 0
OUTPUT = 1
NEUTRAL_NS = 600_000  # short, for the emulator's sake
MS = 1_000_000


def channel(period_us=20_000, frames=3, jmp_pin=RUNSTOP, neutral_ns=NEUTRAL_NS):
    machine = EmulatedMachine(
        rp2_pulses.pulses, set_base=OUTPUT, jmp_pin=jmp_pin, cycle_ns=rp2_pulses.TICK_NS
    )
    machine.inputs = 1 << RUNSTOP
    return machine, Pulses(machine, period_us, neutral_ns, frames)


def renew_until(machine, pulses, end_ms, pulse_ns, every_ms=10):
    while machine.now_ns < end_ms * MS:
        pulses.renew(pulse_ns)
        machine.run_until(min(machine.now_ns + every_ms * MS, end_ms * MS))


def widths(machine):
    return [width for _, width in pulses_of(machine.edges)]


def test_the_first_pulses_are_neutral_and_exact():
    for neutral_ns in (600_000, 1_500_000):
        machine, _ = channel(neutral_ns=neutral_ns)
        machine.run_until(55 * MS)
        assert widths(machine) == [neutral_ns] * 3


def test_nothing_comes_out_before_the_neutral_word():
    machine, _ = channel()
    machine.sent.clear()
    machine.run_until(25 * MS)
    assert machine.edges == []


@pytest.mark.exhaustive
@pytest.mark.parametrize("period_us", [20_000, 5000, 2503])
def test_in_steady_state_every_pulse_is_the_one_asked_for(period_us):
    machine, pulses = channel(period_us, frames=15)
    renew_until(machine, pulses, 45, 1_712_300)
    renewed = pulses_of(machine.edges)[1:]
    assert len(renewed) >= 1
    assert pulses.pulse_ns == 1_712_250
    assert {width for _, width in renewed} == {1_712_250}
    gaps_ns = [b - a for (a, _), (b, _) in itertools.pairwise(renewed)]
    for gap_ns in gaps_ns:  # of the period, to one count of the gap
        assert period_us * 1000 - 9000 < gap_ns < period_us * 1000 + 2000


@pytest.mark.parametrize("frames", [1, 3, 15])
def test_when_renewal_stops_exactly_the_leased_frames_follow_then_neutral(frames):
    machine, pulses = channel(2500, frames)
    machine.run_until(6 * MS)
    pulses.renew(700_000)
    machine.run_until((15 + frames * 5 // 2) * MS)
    leased = [width for _, width in pulses_of(machine.edges) if width != NEUTRAL_NS]
    assert leased == [700_000] * frames
    assert widths(machine)[-3:] == [NEUTRAL_NS] * 3


def test_when_the_runstop_opens_the_next_pulse_is_neutral():
    machine, pulses = channel(5000, frames=15)
    renew_until(machine, pulses, 20, 700_000)
    machine.inputs = 0
    opened_ns = machine.now_ns
    renew_until(machine, pulses, 60, 700_000)  # a program that hangs on to its setpoint
    later = [width for at, width in pulses_of(machine.edges) if at >= opened_ns]
    assert set(later) <= {NEUTRAL_NS, NEUTRAL_NS + TICK_NS}  # the open loop is one tick more
    assert len(later) >= 7
    assert 700_000 in widths(machine)


def test_a_closed_runstop_moves_nothing_until_a_new_word_comes():
    machine, pulses = channel(5000, frames=15)
    renew_until(machine, pulses, 20, 700_000)
    machine.inputs = 0
    machine.run_until(26 * MS)
    machine.inputs = 1 << RUNSTOP
    machine.run_until(46 * MS)  # the lease was not used up
    assert set(widths(machine)[-3:]) == {NEUTRAL_NS}
    renew_until(machine, pulses, 61, 700_000)
    assert widths(machine)[-1] == 700_000


def test_a_channel_with_its_own_output_as_jmp_pin_does_not_ask_the_runstop():
    machine, pulses = channel(5000, jmp_pin=OUTPUT)
    machine.inputs = 0
    renew_until(machine, pulses, 40, 1_300_000)
    assert widths(machine)[-4:] == [1_300_000] * 4


def test_the_last_of_several_renewals_in_a_frame_counts():
    machine, pulses = channel(20_000)
    machine.run_until(10 * MS)
    for pulse_ns in (1_100_000, 1_200_000, 1_300_000, 1_400_000):
        pulses.renew(pulse_ns)
    pulses.renew(1_999_000)
    assert pulses.missed == 1
    machine.run_until(35 * MS)
    assert widths(machine)[-1] == 1_400_000


def test_pulses_out_of_range_are_the_nearest_in_range():
    machine, pulses = channel(2500, frames=1)
    machine.run_until(1 * MS)
    pulses.renew(3_000_000)
    machine.run_until(5 * MS)
    assert widths(machine)[-1] == 2_440_000
    pulses.renew(-1)
    machine.run_until(10 * MS)
    assert 500_000 in widths(machine)


@pytest.mark.parametrize(
    ("period_us", "neutral_ns", "frames", "word"),
    [
        (2499, NEUTRAL_NS, 3, "period"),
        (20_001, NEUTRAL_NS, 3, "period"),
        (20_000, 499_999, 3, "neutral"),
        (20_000, 2_500_001, 3, "neutral"),
        (20_000, NEUTRAL_NS, 0, "frames"),
        (20_000, NEUTRAL_NS, 16, "frames"),
    ],
)
def test_impossible_channels_are_refused(period_us, neutral_ns, frames, word):
    machine, _ = channel()
    with pytest.raises(ValueError, match=word):
        Pulses(machine, period_us, neutral_ns, frames)


@pytest.mark.parametrize("neutral_ns", [500_000, 2_500_000])
def test_the_ends_of_the_range_are_in_range(neutral_ns):
    _, pulses = channel(neutral_ns=neutral_ns)
    assert pulses.pulse_ns == neutral_ns
    pulses.renew(9_999_999)
    assert pulses.pulse_ns == 2_500_000


def test_a_tick_is_what_the_frequency_gives():
    assert rp2_pulses.FREQ_HZ * TICK_NS == 1_000_000_000


def test_every_word_is_a_small_int_on_a_32_bit_port():
    for period_us in (2500, 20_000):
        machine, pulses = channel(period_us, frames=15)
        pulses.renew(0)
        pulses.renew(9_999_999)
        assert max(machine.sent) < 1 << 30
