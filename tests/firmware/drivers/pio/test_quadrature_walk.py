"""No step of long walks with glitches and turns is lost, by the program translated to Python.

``test_rp2_quadrature.py`` holds the translation against the emulator.
"""

import random

import pytest

from firmware.drivers.wheels.rp2_quadrature import quadrature
from firmware.drivers.wheels.wide_count import WideCount
from tests.firmware.drivers.pio.encoder_walk import check_a_walk
from tests.firmware.drivers.pio.quick_pio import translated

QUICK = translated(quadrature.opcodes, quadrature.wrap_target, quadrature.wrap)


def quickly_counted_over(walk):
    state = (0, 0, 0, 0, 0, 0)
    while walk.end is None or state[5] < walk.end:
        state = QUICK(walk.levels, state[5] + 10_000, *state)
    return state[1]


def test_of_two_hundred_thousand_steps_with_glitches_and_turns_none_is_lost():
    check_a_walk(200_000, 2, quickly_counted_over)


@pytest.mark.soak
def test_of_ten_million_steps_with_glitches_and_turns_none_is_lost():
    check_a_walk(10_000_000, 3, quickly_counted_over)


def test_the_wide_count_goes_on_across_every_wrap():
    wide = WideCount(16)
    wide.take(65_000)
    assert wide.count == 0
    place = 65_000
    chance = random.Random(3)
    for _ in range(1000):
        place += chance.randrange(-32_768, 32_768)
        wide.take(place % 65_536)
        assert wide.count == (place - 65_000) % (1 << 30)
