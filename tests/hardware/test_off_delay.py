"""The off-delay of the parts list, computed: how long K1 holds after the loop has opened."""

import csv
from itertools import product
from math import exp
from random import Random

import pytest

from firmware.core.stops.guard import BRAKES_US
from hardware.drawing.harness import FOLDER
from hardware.drawing.off_delay import CIRCUIT, NETS
from hardware.drawing.runstop import CIRCUIT as RUNSTOP
from sim_mock.board.runstop_circuit import OFF_DELAY_US, RunstopCircuit

with (FOLDER / "bom" / "runstop_off_delay.csv").open(encoding="utf-8", newline="") as file:
    VALUES = {row["ref"]: float(row["value"]) for row in csv.DictReader(file)}
THRESHOLDS_V = (0.65, VALUES["Q3"])
LEAKS_A = (0.0, 125e-9)  # of Q3's gate and of D10
SUPPLY_V = (VALUES["U1"], 5.25)
STEP_S = 1e-3


def delay_s(resistor, capacitor, top_v, threshold_v, leak_a):
    """Of a capacitor that a resistor empties, and a leak that does not depend on its volts."""
    rest_v = -leak_a * resistor  # what it would come to
    volts, seconds = top_v, 0.0
    while volts > threshold_v:
        volts = rest_v + (volts - rest_v) * exp(-STEP_S / (resistor * capacitor))
        seconds += STEP_S
    return seconds


def delays_s():
    """Every corner of what the parts may be."""
    drops_v = (VALUES["D10"], 0.3)
    for r, c, top_v, drop_v, threshold_v, leak_a in product(
        (0.99, 1.01), (0.95, 1.05), SUPPLY_V, drops_v, THRESHOLDS_V, LEAKS_A
    ):
        yield delay_s(
            VALUES["R10"] * r, VALUES["C10"] * 1e-6 * c, top_v - drop_v, threshold_v, leak_a
        )


def test_the_delay_is_never_shorter_than_the_virtual_cars_nor_longer_than_the_page_says():
    found = sorted(delays_s())
    assert len(found) == 64
    assert OFF_DELAY_US * 1e-6 <= found[0] < OFF_DELAY_US * 1e-6 + 0.05
    assert 1.7 < found[-1] < 1.8


def test_the_guard_ends_the_braking_before_the_shortest_delay_does():
    assert BRAKES_US < OFF_DELAY_US


def held_us(circuit, loop, is_live=lambda _us: True, until_us=4_000_000):
    """The last microsecond at which the coil had its supply; ``loop`` by time: is it closed."""
    last = -1
    for now_us in range(0, until_us, 1_000):
        if circuit.feeds(loop(now_us), is_live(now_us), now_us):
            last = now_us
    return last


def open_from(us):
    return lambda now_us: now_us < us


def test_without_a_delay_the_loop_carries_the_coil():
    assert held_us(RunstopCircuit(), open_from(100_000)) == 99_000


@pytest.mark.parametrize(
    ("fault", "expected_us"),
    [
        ({}, 100_000 + OFF_DELAY_US),
        ({"is_delay_open": True}, 99_000),
        ({"is_delay_shorted": True}, 3_999_000),
        ({"off_delay_us": 2 * OFF_DELAY_US}, 100_000 + 2 * OFF_DELAY_US),
    ],
)
def test_the_delay_and_its_faults(fault, expected_us):
    circuit = RunstopCircuit(OFF_DELAY_US)
    for name, value in fault.items():
        setattr(circuit, name, value)
    assert held_us(circuit, open_from(100_000)) == expected_us


@pytest.mark.parametrize("period_us", [2_000, 30_000, 200_000])
def test_a_loop_that_bounces_does_not_begin_it_again(period_us):
    circuit = RunstopCircuit(OFF_DELAY_US)

    def bounces(now_us):
        return now_us < 100_000 or (now_us // (period_us // 2)) % 2 == 1

    first_us = next(us for us in range(0, 4_000_000, 1_000) if not bounces(us))
    assert held_us(circuit, bounces) == first_us + OFF_DELAY_US


def test_an_open_loop_does_not_charge_it_whatever_the_life_signal_does():
    circuit = RunstopCircuit(OFF_DELAY_US)
    last_us = held_us(circuit, open_from(100_000), lambda now_us: (now_us // 40_000) % 2 == 1)
    assert last_us == 100_000 + OFF_DELAY_US


def test_it_holds_again_once_the_loop_is_closed_and_the_life_signal_was_off():
    circuit = RunstopCircuit(OFF_DELAY_US)
    held_us(circuit, open_from(0))
    assert not circuit.feeds(True, True, 5_000_000)
    assert circuit.feeds(True, False, 5_001_000)
    assert circuit.feeds(True, True, 5_002_000)


def latched(was_held, is_loop_closed, is_live):
    """What the gates as drawn come to; None if they do not settle."""
    levels = {
        "loop": is_loop_closed,
        "drain of Q1": not is_live,  # Q1 pulls it down, or R13 and the coil pull it up
        "not set": True,
        "held": was_held,
        "not held": not was_held,
    }
    for _ in range(8):
        before = dict(levels)
        for _, one, other, out in NETS:
            levels[out] = not (levels[one] and levels[other])
        if levels == before:
            return levels["held"]
    return None


def test_the_gates_as_drawn_are_the_latch_of_the_virtual_car():
    """By random sequences of the loop and of the life signal, a look each millisecond."""
    random = Random(7)
    for _ in range(50):
        circuit, held, opened_us = RunstopCircuit(OFF_DELAY_US), True, 0
        for now_us in range(0, 3_000_000, 1_000):
            if now_us % 50_000 == 0:
                closed, live = random.random() < 0.7, random.random() < 0.7
            before, held = held, latched(held, closed, live)
            assert held is not None
            if before and not held:
                opened_us = now_us
            is_fed = held or now_us - opened_us <= OFF_DELAY_US
            assert circuit.feeds(closed, live, now_us) == is_fed


def test_the_latch_reads_its_inputs_at_any_supply_and_bears_the_coils_kick():
    """74HC132: high for sure above 0.7 of its supply, low below 0.18 (its data sheet's extremes at
    4.5 V are 3.15 and 0.9 V); a clamped input bears 20 mA."""
    on_board = RUNSTOP.read_values()
    amperes = 5.25 / on_board["K1"][0]
    pulled_down_v = amperes * 0.048  # AO3400A at 2.5 V
    for supply_v in (4.75, 5.25):
        assert pulled_down_v < 0.18 * supply_v
        loop_v = supply_v * 0.99  # the cable and its buttons beside R12
        assert loop_v > 0.7 * supply_v
    kick_v = 5.25 + on_board["D4"][0] + 0.7
    assert (kick_v - 4.75) / VALUES["R11"] < 20e-3
    assert VALUES["R13"] * 1e-6 < 0.05 * 4.75  # what leaks into a gate takes nothing of the pull-up


def test_everything_that_is_drawn_is_in_a_parts_list():
    drawn = {ref for _, ref, *_ in CIRCUIT.symbols if ref}
    drawn |= {ref for ref, _ in CIRCUIT.transistors}
    listed = set(CIRCUIT.read_values()) | {"D3"}
    assert drawn <= listed
    assert set(VALUES) - {"U1"} <= drawn
    assert {ref for ref, *_ in CIRCUIT.gates} == {ref for ref, *_ in NETS} == {"U1A", "U1B", "U1C"}
