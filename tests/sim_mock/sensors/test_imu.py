"""The inertial sensor: reproducible, white, biased by its seed, saturating."""

import itertools
from dataclasses import replace
from math import hypot, log, pi
from statistics import mean, pstdev

import pytest

from sim_mock.models.autorally.parameters import ActuatorInput
from sim_mock.sensors.imu import GRAVITY_MPS2 as G
from sim_mock.sensors.imu import ImuModel, ImuParameters, specific_force
from tests.sim_mock.models.autorally.drives import rolling, run

NOISY = ImuParameters(100.0, 0.05, 0.0, 0.3, 0.0)
BIASED = ImuParameters(100.0, 0.0, 0.05, 0.0, 0.3)
CLEAN = ImuParameters(100.0, 0.0, 0.0, 0.0, 0.0)
DRIFTING = ImuParameters(100.0, 0.0, 0.0, 0.0, 0.0, 0.01, 0.2)


def samples(p: ImuParameters, seed: int, count: int) -> list[tuple[int, int, int]]:
    imu, taken = ImuModel(p, seed), []
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
    imu = ImuModel(CLEAN, 1)
    imu.sample(0.5, -1.25, 2.0)
    assert (imu.yaw_rate_mrad_s, imu.accel_x_mm_s2, imu.accel_y_mm_s2) == (500, -1250, 2000)


def test_it_saturates_where_the_field_ends():
    imu = ImuModel(CLEAN, 1)
    imu.sample(50.0, -50.0, 0.0)
    assert (imu.yaw_rate_mrad_s, imu.accel_x_mm_s2) == (32767, -32767)


def test_a_sample_is_held_until_the_next_is_due():
    imu, seen = ImuModel(CLEAN, 1), []
    for step in range(1, 31):
        imu.step(1e-3, 0.001 * step, 0.0, 0.0)
        seen.append(imu.yaw_rate_mrad_s)
    assert seen == [0] * 9 + [10] * 10 + [20] * 10 + [30]


def test_at_rest_and_level_an_accelerometer_reads_one_g_upward():
    imu = ImuModel(CLEAN, 1)
    assert imu.measured == imu.truth == (0.0, 0.0, 0.0, 9.81)
    noisy = ImuModel(NOISY, 1)
    ups = [noisy.sample(0.0, 0.0, 0.0) or noisy.measured[3] for _ in range(20_000)]
    assert mean(ups) == pytest.approx(9.81, abs=4 * 0.3 / 20_000**0.5)
    assert pstdev(ups) == pytest.approx(0.3, rel=0.03)


@pytest.mark.parametrize(
    ("roll", "pitch", "force"),
    [
        (0.0, 0.0, (1.0, 2.0, G)),
        (0.0, pi / 2, (-G, 2.0, 1.0)),  # on its nose: x points down
        (pi / 2, 0.0, (1.0, G, -2.0)),  # on its right side: y points up
        (pi, 0.0, (1.0, -2.0, -G)),  # on its roof
    ],
)
def test_gravity_is_felt_in_the_axes_of_the_body(roll, pitch, force):
    assert specific_force(1.0, 2.0, roll, pitch) == pytest.approx(force)


@pytest.mark.parametrize(("roll", "pitch"), [(0.1, 0.2), (-0.7, 0.4), (2.0, -1.0)])
def test_leaning_changes_no_length(roll, pitch):
    assert hypot(*specific_force(3.0, -1.0, roll, pitch)) == pytest.approx(hypot(3.0, -1.0, G))


def test_a_body_that_rolls_outward_in_a_turn_feels_more_than_the_turn():
    """AutoRally's full model, steady in a left turn: its roll is what its IMU leans by."""
    x = run("full", rolling("full", 2.5), ActuatorInput(0.2, 0.9), 4.0)
    across_mps2 = x.vx_mps * x.yaw_rate_radps
    assert x.roll_rad > 0.005
    imu = ImuModel(CLEAN, 1)
    imu.sample(x.yaw_rate_radps, 0.0, across_mps2, x.roll_rad, -x.pitch_rad)
    assert imu.measured[2] - across_mps2 == pytest.approx(G * x.roll_rad, rel=0.05)


def deviations_after(seconds, cars=400):
    """Over cars, of how far the yaw rate's and an acceleration's bias have wandered."""
    ends = []
    for seed in range(cars):
        imu = ImuModel(DRIFTING, seed)
        for _ in range(round(seconds * 100)):
            imu.step(0.01, 0.0, 0.0, 0.0)
        ends.append(imu.measured)
    return pstdev(e[0] for e in ends), pstdev(e[3] for e in ends)


def test_the_bias_wanders_as_a_random_walk():
    """Its variance grows with time: four times the time is twice the deviation."""
    for seconds in (1, 4):
        rate, accel = deviations_after(seconds)
        assert rate == pytest.approx(0.01 * seconds**0.5, rel=0.15)
        assert accel == pytest.approx(0.2 * seconds**0.5, rel=0.15)


def allan_deviation(values, count):
    means = [mean(values[i : i + count]) for i in range(0, len(values) - count + 1, count)]
    return (mean((b - a) ** 2 for a, b in itertools.pairwise(means)) / 2) ** 0.5


def measured_rates(parameters, count):
    imu, values = ImuModel(parameters, 4), []
    for _ in range(count):
        imu.step(0.01, 0.0, 0.0, 0.0)
        values.append(imu.measured[0])
    return values


@pytest.mark.parametrize(
    ("parameters", "slope"), [(NOISY, -0.5), (DRIFTING, 0.5)], ids=["noise", "drift"]
)
def test_allans_slope_tells_noise_from_drift(parameters, slope):
    """Minus a half over the averaging time for white noise, plus a half for a random walk."""
    values = measured_rates(parameters, 60_000)
    short, long = allan_deviation(values, 10), allan_deviation(values, 160)
    assert log(long / short) / log(16) == pytest.approx(slope, abs=0.12)


def test_what_the_board_reads_is_what_it_read_before_there_was_a_drift():
    """The same seeds, the same numbers: the z axis and the drift draw from another source."""
    assert samples(replace(NOISY, accel_drift_mps2=0.1), 7, 50) == samples(NOISY, 7, 50)
