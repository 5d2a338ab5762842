"""The inertial sensor: reproducible, white, biased by its seed, saturating."""

import itertools
from statistics import mean, pstdev

import pytest

from sim_mock.sensors.imu import Imu, ImuParameters

NOISY = ImuParameters(100.0, 0.05, 0.0, 0.3, 0.0)
BIASED = ImuParameters(100.0, 0.0, 0.05, 0.0, 0.3)
CLEAN = ImuParameters(100.0, 0.0, 0.0, 0.0, 0.0)


def samples(p: ImuParameters, seed: int, count: int) -> list[tuple[int, int, int]]:
    imu, taken = Imu(p, seed), []
    for _ in range(count):
        imu.sample(0.0, 0.0, 0.0)
        taken.append((imu.yaw_rate_mrad_s, imu.accel_x_mm_s2, imu.accel_y_mm_s2))
    return taken


def test_the_seed_decides_every_sample():
    assert samples(NOISY, 1, 100) == samples(NOISY, 1, 100) != samples(NOISY, 2, 100)


@pytest.mark.parametrize(("axis", "std"), [(0, 50.0), (1, 300.0), (2, 300.0)])
def test_noise_is_white_with_the_given_deviation(axis, std):
    values = [sample[axis] for sample in samples(NOISY, 3, 20_000)]
    centre = mean(values)
    assert pstdev(values) == pytest.approx(std, rel=0.03)
    assert abs(centre) < 4 * std / 20_000**0.5
    neighbours = itertools.pairwise(values)
    correlation = mean([(a - centre) * (b - centre) for a, b in neighbours]) / std**2
    assert abs(correlation) < 4 / 20_000**0.5


def test_bias_is_constant_in_a_car_and_spread_over_cars():
    assert len(set(samples(BIASED, 1, 100))) == 1
    biases = [samples(BIASED, seed, 1)[0] for seed in range(2000)]
    assert pstdev([b[0] for b in biases]) == pytest.approx(50.0, rel=0.07)
    assert pstdev([b[1] for b in biases]) == pytest.approx(300.0, rel=0.07)


def test_flat_at_rest_it_reads_nothing_in_the_plane():
    assert samples(CLEAN, 1, 10) == [(0, 0, 0)] * 10


def test_signs_and_units():
    imu = Imu(CLEAN, 1)
    imu.sample(0.5, -1.25, 2.0)
    assert (imu.yaw_rate_mrad_s, imu.accel_x_mm_s2, imu.accel_y_mm_s2) == (500, -1250, 2000)


def test_it_saturates_where_the_field_ends():
    imu = Imu(CLEAN, 1)
    imu.sample(50.0, -50.0, 0.0)
    assert (imu.yaw_rate_mrad_s, imu.accel_x_mm_s2) == (32767, -32767)


def test_a_sample_is_held_until_the_next_is_due():
    imu, seen = Imu(CLEAN, 1), []
    for step in range(1, 31):
        imu.step(1e-3, 0.001 * step, 0.0, 0.0)
        seen.append(imu.yaw_rate_mrad_s)
    assert seen == [0] * 9 + [10] * 10 + [20] * 10 + [30]
