"""The fit finds the car that made a log, and says what the log does not tell."""

import numpy as np
import pytest

from calibration.fit import fit
from calibration.look import lags_between, wobble
from calibration.parameters import Parameter
from calibration.replay import calibrate
from tests.calibration import drives
from tests.calibration.drives import NIGEL, TRUTH, made_run

TOLD = (
    *("steer_trim_norm", "steer_gain", "speed_mps", "speed_lag_s"),
    *("queue_delay_s", "queue_s_per_message", "mount_yaw_rad", "mount_x_m"),
)


@pytest.fixture(scope="module")
def found():
    """From two runs with 5 mm and 5 mrad of wobble, half of a real scan matcher's."""
    runs = [made_run(0.15, TRUTH, 10, 0.005), made_run(0.35, TRUTH, 11, 0.005)]
    return {one.name: one for one in calibrate(NIGEL, runs)}


def test_the_parameters_of_a_made_log_lie_in_their_intervals(found):
    """Each of eight with 19 chances in 20: one may miss, by little."""
    assert all(found[name].is_fitted for name in TOLD)
    misses = [name for name in TOLD if not found[name].low <= TRUTH[name] <= found[name].high]
    assert len(misses) <= 1, misses
    for one in (found[name] for name in TOLD):
        assert abs(one.value - TRUTH[one.name]) < one.high - one.low, one.name


def test_the_intervals_of_a_made_log_say_something(found):
    assert found["steer_trim_norm"].high - found["steer_trim_norm"].low < 0.01
    assert found["speed_mps"].high - found["speed_mps"].low < 0.03


def test_what_is_not_told_stays_at_its_known_value_and_its_range_is_open(found):
    rate = found["steer_rate_radps"]
    assert not rate.is_fitted
    assert rate.value == rate.known == 5.51
    assert (rate.low, rate.high) == (pytest.approx(1.0), pytest.approx(20.0))


LINE = (Parameter("level", -10.0, 10.0, ""), Parameter("slope", -10.0, 10.0, ""))
SILENT = (*LINE, Parameter("silent", 0.0, 1.0, ""))
TIMES = np.linspace(0.0, 1.0, 80)


def line(noise):
    """Residuals of a straight line, level 2 and slope -1, in one run of one channel."""
    return lambda v: [(v["level"] - 2.0 + (v["slope"] + 1.0) * TIMES - noise)[:, None]]


def remembering(seed):
    return drives.wobble(len(TIMES), seed, 0.5)[0]


def test_intervals_of_a_line_in_a_wobble_cover_as_often_as_they_say():
    covered = [
        one.low <= truth <= one.high
        for seed in range(100)
        for one, truth in zip(
            fit(line(remembering(seed)), {"level": 0.0, "slope": 0.0}, LINE),
            (2.0, -1.0),
            strict=True,
        )
    ]
    assert 0.88 <= np.mean(covered) <= 0.99


def test_a_parameter_without_any_effect_is_left_alone():
    known = {"level": 0.0, "slope": 0.0, "silent": 0.25}
    found = {one.name: one for one in fit(line(remembering(0)), known, SILENT)}
    assert not found["silent"].is_fitted
    assert found["silent"].value == 0.25
    assert found["level"].is_fitted


def test_the_memory_of_a_wobble_is_found_behind_a_fit():
    slopes = np.column_stack([np.ones_like(TIMES), TIMES])
    basis, _ = np.linalg.qr(slopes)
    lags = lags_between([(len(TIMES), 1)])
    noises = [remembering(seed) for seed in range(200)]
    found = [wobble(noise - basis @ (basis.T @ noise), slopes, lags) for noise in noises]
    assert np.mean(found, axis=0) == pytest.approx([0.6, 0.25], abs=0.03)


def test_residuals_of_other_runs_and_channels_are_no_neighbours():
    lags = lags_between([(2, 2), (1, 2)])
    assert lags[0].tolist() == [0.0, np.inf, 1.0, np.inf, np.inf, np.inf]
