"""Speed, travel and place from the wheels' counts: forward, backward, and there again."""

import pytest

from firmware.core.motion.odometry import Odometry
from tests.firmware.core.bare_car import GIVEN, STEP_US
from tests.firmware.core.desk import params_with

COUNT_MM = 1  # GIVEN's
PERIOD = 1 << 30


class Wheels:
    """Both sides turn alike; counts wrap."""

    def __init__(self, counts: int = 0) -> None:
        self.odometry = Odometry()
        self.odometry.configure(params_with(**GIVEN))
        self.counts = counts
        self.now_us = 0
        self.roll(0)

    def roll(self, mm: int, steps: int = 1) -> Odometry:
        for _ in range(steps):
            self.counts = (self.counts + mm // COUNT_MM) % PERIOD
            self.odometry.step(self.counts, self.counts, self.now_us, 0, 0)
            self.now_us += STEP_US
        return self.odometry


@pytest.mark.parametrize("counts", [0, PERIOD - 3, 2])
@pytest.mark.parametrize("sign", [1, -1])
def test_it_knows_forward_from_backward_across_every_wrap_of_its_counts(counts, sign):
    wheels = Wheels(counts)
    odometry = wheels.roll(5 * sign, 100)
    assert odometry.speed_mm_s == 500 * sign
    assert (odometry.x_mm, odometry.y_mm) == (pytest.approx(500 * sign, abs=1), 0)
    assert odometry.distance_mm == 500 * sign


def test_as_far_back_as_forth_is_where_it_began():
    wheels = Wheels()
    wheels.roll(5, 200)
    odometry = wheels.roll(-5, 200)
    assert (odometry.x_mm, odometry.y_mm, odometry.distance_mm) == (0, 0, 0)
    assert odometry.speed_mm_s == -500
    assert wheels.roll(0, 4).speed_mm_s == 0
