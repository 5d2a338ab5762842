"""The host compares a board's wrapping times as the board does."""

from __future__ import annotations

import random

from firmware.core import deadlines
from host_bridge.core import board_time


def test_times_are_compared_as_the_car_compares_them():
    rng = random.Random(1)
    for _ in range(10_000):
        a, b = rng.randrange(1 << 30), rng.randrange(1 << 30)
        assert board_time.elapsed_us(a, b) == deadlines.elapsed_us(a, b)
        near = rng.randrange(1 << 40)
        unwrapped = board_time.unwrapped_us(a, near)
        assert unwrapped & board_time.TIME_MASK == a
        assert abs(unwrapped - near) <= 1 << 29
