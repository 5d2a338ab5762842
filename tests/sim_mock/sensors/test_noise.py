"""Noise against Python's own generator."""

from random import Random

import pytest

from sim_mock.sensors.imu import Noise


@pytest.mark.parametrize("seed", [0, 7, "imu 7"])
def test_its_numbers_are_those_of_the_standard_library(seed):
    noise, own = Noise(seed), Random(seed)
    drawn = [noise.gauss(1.5, 0.25 * i) for i in range(1001)]
    assert drawn == [own.gauss(1.5, 0.25 * i) for i in range(1001)]
