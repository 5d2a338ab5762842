"""No step is lost: every transition by itself, then a walk with glitches and turns."""

import random
from dataclasses import replace
from itertools import pairwise

import pytest

from firmware.drivers.wheels.rp2_quadrature import QuadratureCounter, quadrature
from tests.firmware.drivers.pio.emulated import EmulatedMachine, pioemu
from tests.firmware.drivers.pio.encoder_walk import FORWARD, WORD, WORST_TURN, Walk, check_a_walk
from tests.firmware.drivers.pio.quick_pio import translated


def machine_at(levels, count=0):
    machine = EmulatedMachine(quadrature, in_base=0)
    machine.inputs = levels
    machine.state = replace(machine.state, x_register=count % WORD)
    machine.active(1)
    return machine


@pytest.mark.parametrize("count", [0, 1, -1, (1 << 31) - 1, -(1 << 31)])
@pytest.mark.parametrize("before", range(4))
@pytest.mark.parametrize("step", [-1, 0, 1])
def test_each_transition_counts_what_it_is(before, step, count):
    machine = machine_at(FORWARD[before], count)
    machine.run_until(3 * WORST_TURN)
    machine.inputs = FORWARD[(before + step) % 4]
    machine.run_until(6 * WORST_TURN)
    assert machine.state.x_register == (count + step) % WORD


def test_both_lines_at_once_count_nothing():
    machine = machine_at(0b00)
    for levels in (0b11, 0b00, 0b11):
        machine.inputs = levels
        machine.run_until(machine.now_ns + 3 * WORST_TURN)
    assert machine.state.x_register == 0


def test_no_turn_takes_longer_than_the_driver_says():
    machine = machine_at(0b00)
    chance = random.Random(11)
    clocks, place = [], 0
    start = quadrature.wrap_target
    for _ in range(300):
        place += chance.choice((-1, 0, 1))
        machine.inputs = FORWARD[place % 4]
        for _, state in machine._steps(machine.now_ns + chance.randrange(19, 40)):
            if state.program_counter == start:
                clocks.append(state.clock)
    assert max(b - a for a, b in pairwise(clocks)) == WORST_TURN


def counted_over(walk):
    """The program's count after the walk, straight from the emulator."""
    machine = machine_at(0b00)
    settings = {**machine._machine, "input_source": walk.levels}
    for _, after in pioemu.emulate(
        machine.program.opcodes,
        initial_state=machine.state,
        stop_when=lambda _, now: walk.end is not None and now.clock >= walk.end,
        **settings,
    ):
        if len(after.receive_fifo) == 4:
            after.receive_fifo.clear()
    return after.x_register


@pytest.mark.exhaustive
def test_of_five_thousand_steps_in_the_emulator_none_is_lost():
    check_a_walk(5000, 1, counted_over)


QUICK = translated(quadrature.opcodes, quadrature.wrap_target, quadrature.wrap)


@pytest.mark.parametrize("seed", range(3))
def test_the_translated_program_is_the_emulated_one_cycle_by_cycle(seed):
    machine, walk, twin = machine_at(0b00), Walk(400, seed), Walk(400, seed)
    settings = {**machine._machine, "input_source": walk.levels}
    trace = {}
    for before, _ in pioemu.emulate(
        quadrature.opcodes,
        initial_state=machine.state,
        stop_when=lambda _, now: walk.end is not None and now.clock >= walk.end,
        **settings,
    ):
        before.receive_fifo.clear()
        trace[before.clock] = (
            before.program_counter,
            before.x_register,
            before.y_register,
            before.input_shift_register.contents,
            before.output_shift_register.contents,
        )
    state = (0, 0, 0, 0, 0, 0)
    compared = 0
    while state[5] in trace:
        assert trace[state[5]] == state[:5]
        state = QUICK(twin.levels, state[5] + 1, *state)
        compared += 1
    assert compared > 400 * 3
    assert max(trace) - state[5] < WORST_TURN


def test_steps_faster_than_a_turn_are_lost_so_the_walk_can_fail():
    walk = Walk(300, seed=1)
    walk._chance = random.Random(1)
    real_plan = walk._plan

    def hasty():
        real_plan()
        walk._at -= 12

    walk._plan = hasty
    assert counted_over(walk) != walk.place % WORD


def test_the_counter_is_read_fresh_from_full_fifos_and_across_its_16_bit_wrap():
    machine = machine_at(0b00, count=0xFFF0)
    counter = QuadratureCounter(machine)
    machine.run_until(500)
    counter.read()
    first, place = counter.count, 0
    for _ in range(6):
        for _ in range(7):
            place += 1
            machine.inputs = FORWARD[place % 4]
            machine.run_until(machine.now_ns + 25)
        counter.read()
        assert counter.count == first + place
    assert machine.state.x_register > 0xFFFF
