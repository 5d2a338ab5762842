"""The charge pump of the parts list, computed: what lifts the gate of the relay's transistor."""

import pytest

from firmware.core.stops import fault_monitor as watch
from hardware.drawing.runstop import CIRCUIT, SYMBOLS

VALUES = {ref: value for ref, (value, _) in CIRCUIT.read_values().items()}
HIGH_V = 3.3 * 0.9  # a pin that drives the pump
LEAST_V, MOST_V = (
    0.65,
    VALUES["Q1"],
)  # AO3400A: the threshold of one that is good, and of one that is bad
STEP_S = 2e-6
SETTLES_S = watch._RELAY_SETTLES_US * 1e-6  # what the car's program allows the contact
# K1's data sheet (most); K2: the contactor, estimated, slower than the relay's typical 7 and 2 ms
OPERATE_S, RELEASE_S = (0.007, 0.025), (0.003, 0.012)


def gate(levels, gate_v=0.0):
    """Volts at the gate, step by step, for levels of the pin. D1 conducts all above its drop."""
    r1, c1, c2, r2 = VALUES["R1"], VALUES["C1"] * 1e-6, VALUES["C2"] * 1e-6, VALUES["R2"]
    drop, pump_v, volts = VALUES["D1"], 0.0, []  # pump_v: across C1
    for level in levels:
        node_v = level * HIGH_V - pump_v
        amperes = (node_v - gate_v - drop) / r1 if node_v > gate_v + drop else 0.0
        amperes = (node_v + drop) / r1 if node_v < -drop else amperes
        pump_v += amperes * STEP_S / c1
        gate_v += (max(amperes, 0.0) - gate_v / r2) * STEP_S / c2
        volts.append(gate_v)
    return volts


def wave(hz, seconds):
    half = round(0.5 / hz / STEP_S)
    return [step // half % 2 for step in range(round(seconds / STEP_S))]


@pytest.mark.parametrize("hz", [1_000, 2_000])  # toggled by the guard's timer; by a state machine
def test_a_life_signal_lifts_the_gate_above_any_threshold(hz):
    volts = gate(wave(hz, 0.3))
    assert min(volts[-10_000:]) > MOST_V + 0.3


@pytest.mark.parametrize("level", [0, 1])
def test_a_pin_that_stays_where_it_is_never_lifts_it(level):
    assert max(gate([level] * 50_000)) < LEAST_V


@pytest.mark.parametrize("us", [60, 1_000, 20_000])
def test_a_glitch_of_any_length_does_not_lift_it(us):
    pulse = [1] * round(us * 1e-6 / STEP_S)
    assert max(gate([0] * 10 + pulse + [0] * 20_000)) < LEAST_V


@pytest.mark.parametrize("last", [0, 1])
def test_the_gate_is_low_in_time_after_the_last_edge(last):
    """So that the contacts have let go when the program looks for it."""
    top = gate(wave(2_000, 0.3))[-1]
    volts = gate([last] * round(0.1 / STEP_S), top)
    falling = first(volts, lambda v: v < LEAST_V)
    assert falling < 0.03  # as the parts list says
    assert falling + sum(RELEASE_S) < SETTLES_S


def test_the_gate_is_high_in_time_after_the_first_edge():
    rising = first(gate(wave(1_000, 0.1)), lambda v: v > MOST_V)
    assert rising + sum(OPERATE_S) < SETTLES_S


def first(volts, is_there):
    return next(n for n, v in enumerate(volts) if is_there(v)) * STEP_S


def test_every_pin_of_the_car_bears_its_divider():
    for upper, lower in (("R3", "R4"), ("R5", "R6")):
        ratio = VALUES[lower] / (VALUES[upper] + VALUES[lower])
        assert 2.5 < 4.9 * ratio < 5.2 * ratio < 3.31


def test_the_loops_filter_is_as_short_as_its_promise():
    beside = 1 / (1 / VALUES["R3"] + 1 / VALUES["R4"])
    assert 15e-6 < beside * VALUES["C3"] * 1e-6 < 20e-6
    assert VALUES["R4"] * VALUES["C3"] * 1e-6 * 1.5 < 200e-6  # open: from 3.3 V to low


def test_a_transistor_of_the_read_back_opens_down_to_an_empty_battery():
    ratio = VALUES["R8"] / (VALUES["R7"] + VALUES["R8"])
    assert 9.6 * ratio > VALUES["Q2"] + 0.5
    assert 12.6 * ratio < 12.0


def test_everything_in_the_circuit_is_in_the_parts_list():
    drawn = {ref for _, ref, *_ in SYMBOLS if ref and " " not in ref and "\n" not in ref}
    listed = set(CIRCUIT.read_values()) | {"D3"}
    assert drawn - listed <= {"F3", "R20"}  # these are on the car, not on the board
    assert {"R1", "R2", "R9", "C1", "C2", "D1", "K1"} <= drawn
