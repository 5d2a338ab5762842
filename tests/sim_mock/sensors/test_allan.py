"""Allan deviation of the inertial sensor: what was asked for comes out, up to six minutes."""

from math import exp, sqrt

import numpy as np
import pytest

from sim_mock.sensors.imu import ImuModel, ImuParameters
from tests.support.evidence import every

HZ = 10.0  # slow, so that half a day takes seconds; the model's errors depend on its rate by law
WHITE_MPS2, BIAS_MPS2, BIAS_S = 0.02, 0.004, 60.0
ASKED = ImuParameters(HZ, 0.002, 0.0005, WHITE_MPS2, BIAS_MPS2,
                      yaw_rate_bias_s=BIAS_S, accel_bias_s=BIAS_S)  # fmt: skip


def samples(seconds, seed):
    """Columns of yaw rate and three accelerations, of a sensor at rest."""
    imu = ImuModel(ASKED, seed)
    found = np.empty((round(seconds * HZ), 4))
    for row in found:
        imu.step(1.0 / HZ, 0.0, 0.0, 0.0)
        row[:] = imu.measured
    return found


def allan(values, tau_s):
    """The Allan deviation of each column over tau_s, of means that do not overlap."""
    per = round(tau_s * HZ)
    whole = len(values) // per * per
    means = values[:whole].reshape(-1, per, values.shape[1]).mean(axis=1)
    return np.sqrt(0.5 * np.mean(np.diff(means, axis=0) ** 2, axis=0))


def expected(white, bias, tau_s):
    """IEEE Std 952-1997, annex C: white noise N^2/tau, and a Gauss-Markov process."""
    part = BIAS_S / (2.0 * tau_s)
    markov = 1.0 - part * (3.0 - 4.0 * exp(-tau_s / BIAS_S) + exp(-2.0 * tau_s / BIAS_S))
    return sqrt(white**2 / (HZ * tau_s) + 2.0 * bias**2 * BIAS_S / tau_s * markov)


def shares(seconds, taus_s, seeds=1):
    """Of each tau, what was found over what was asked: yaw rate, and the accelerations' mean."""
    drives = [samples(seconds, seed) for seed in range(seeds)]
    for tau_s in taus_s:
        variance = np.mean([allan(it, tau_s) ** 2 for it in drives], axis=0)
        found = sqrt(variance[0]), sqrt(variance[1:].mean())
        asked = expected(0.002, 0.0005, tau_s), expected(WHITE_MPS2, BIAS_MPS2, tau_s)
        yield tau_s, found[0] / asked[0], found[1] / asked[1]


def test_seconds_of_allan_deviation_are_as_asked():
    assert every(
        abs(rate - 1.0) < 0.1 and abs(accel - 1.0) < 0.1
        for _, rate, accel in shares(4000.0, (0.1, 1.0, 5.0))
    )


@pytest.mark.exhaustive  # two days of a sensor's time: half a minute
def test_six_minutes_of_allan_deviation_are_as_asked_within_a_tenth():
    found = list(shares(86_400.0, (0.1, 1.0, 10.0, 30.0, 60.0, 120.0, 240.0, 360.0), 3))
    assert every(abs(accel - 1.0) < 0.1 for _, _, accel in found), found
    assert every(abs(rate - 1.0) < 0.1 for _, rate, _ in found), found


def test_a_bias_with_a_time_constant_stays_as_large_as_it_was_asked_for():
    """Stationary: over cars the deviation is the same at once and after ten time constants."""
    quick = ImuParameters(HZ, 0.0, 0.01, 0.0, 0.5, yaw_rate_bias_s=2.0, accel_bias_s=2.0)
    ends = []
    for seed in range(600):
        imu = ImuModel(quick, seed)
        begun = imu.measured
        for _ in range(200):
            imu.step(1.0 / HZ, 0.0, 0.0, 0.0)
        ends.append((begun[0], begun[1], imu.measured[0], imu.measured[1]))
    deviations = np.std(ends, axis=0)
    assert deviations == pytest.approx([0.01, 0.5, 0.01, 0.5], rel=0.1)
    assert abs(np.corrcoef(np.array(ends).T)[0, 2]) < 0.2, "it has forgotten where it was"


def test_a_car_that_drives_shakes_its_sensor():
    shaken = ImuParameters(HZ, 0.001, 0.0, 0.02, 0.0, yaw_rate_vibration_radps_per_mps=0.004,
                           accel_vibration_mps2_per_mps=0.1)  # fmt: skip
    for speed_mps in (0.0, 3.0):
        imu, found = ImuModel(shaken, 1), []
        imu.speed_mps = speed_mps
        for _ in range(4000):
            imu.sample(0.0, 0.0, 0.0)
            found.append(imu.measured[:2])
        asked = np.hypot((0.001, 0.02), (0.004 * speed_mps, 0.1 * speed_mps))
        assert np.std(found, axis=0) == pytest.approx(asked, rel=0.05)
