"""The fit finds the car that made a log, says what a log does not tell, and if it does not fit."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import norm

from calibration.bayesian_fit.fit import Stages, fit
from calibration.bayesian_fit.linearised_run import LinearisedRun
from calibration.bayesian_fit.odometry_noise import whitened
from calibration.bayesian_fit.parameters import FitParameter
from calibration.bayesian_fit.run_effects import SUSPECTS, ZERO_EFFECTS
from calibration.bayesian_fit.run_fit import fit_runs
from calibration.bayesian_fit.search import ResidualModel
from calibration.bayesian_fit.variance_components import (
    averaged_covariance,
    likeliest_scales,
    prior_scales,
)
from calibration.bayesian_fit.variance_priors import DIFFERING, SCALES
from tests.calibration import drives
from tests.calibration.drives import NIGEL, TRUTH, made_run
from tests.studies.calibration_cars import car
from tests.studies.calibration_cars import drives as drives_of
from tests.support.evidence import every

IDENTIFIABLE = (
    *("steer_trim_norm", "steer_gain", "full_effort_mps", "speed_lag_s"),
    *("queue_delay_s", "queue_s_per_message", "mount_yaw_rad"),
)


@pytest.fixture(scope="module")
def found():
    """From three runs with 5 mm and 5 mrad of noise, half of a real scan matcher's."""
    runs = [made_run(steer, TRUTH, seed, 0.005) for seed, steer in enumerate((0.15, 0.35, -0.05))]
    return fit_runs(NIGEL, runs)


@pytest.mark.fit
def test_the_parameters_of_a_made_log_lie_in_their_intervals(found):
    """Each with 19 chances in 20: one may miss, by little."""
    by_name = {one.name: one for one in found.estimates}
    assert every(by_name[name].is_fitted for name in IDENTIFIABLE)
    misses = [one.name for one in found.estimates if not one.low <= TRUTH[one.name] <= one.high]
    assert len(misses) <= 1, misses
    for name in IDENTIFIABLE:
        one = by_name[name]
        assert abs(one.value - TRUTH[name]) < one.high - one.low, name


@pytest.mark.fit
def test_the_intervals_of_a_made_log_say_something(found):
    by_name = {one.name: one for one in found.estimates}
    assert by_name["steer_trim_norm"].high - by_name["steer_trim_norm"].low < 0.04
    assert by_name["full_effort_mps"].high - by_name["full_effort_mps"].low < 0.03


@pytest.mark.fit
def test_a_parameter_that_is_not_identifiable_stays_near_its_known_value(found):
    (rate,) = [one for one in found.estimates if one.name == "steer_rate_radps"]
    assert not rate.is_fitted
    assert rate.value == pytest.approx(rate.known, rel=0.3)
    assert rate.high > 2.0 * rate.low


@pytest.mark.fit
def test_a_log_of_such_a_car_shows_no_lack_of_fit(found):
    assert not found.lack_of_fit.is_significant
    assert found.lack_of_fit.suspect == ""


LINE = (
    FitParameter("level", -10.0, 10.0, 5.0, False),
    FitParameter("slope", -10.0, 10.0, 5.0, False),
)
SILENT = (*LINE, FitParameter("silent", 0.01, 1.0, 1.0, True, (0.5,)))
KNOWN = {"level": 0.0, "slope": 0.0, "silent": 0.25}
TIMES = np.linspace(0.0, 8.0, 80)
SHAPE = TIMES / TIMES[-1]
RUN = np.zeros((len(TIMES), 3, len(ZERO_EFFECTS)))
NO_PIECES = np.zeros((len(TIMES), 3, 0))
ALIKE = np.zeros((len(TIMES), 3, len(DIFFERING)))  # no parameter is another one in each run


def fitted(noise, table=LINE, bent=lambda level: level):
    """A straight line, level 2 and slope -1, seen in x, y and yaw of one run; no effects."""

    def residuals(v, _=None):
        return [((bent(v["level"]) - bent(2.0)) + (v["slope"] + 1.0) * SHAPE - noise).T]

    def linearise(point, _):
        level = point.values["level"]
        slopes = np.zeros((len(TIMES), 3, len(table)))
        slopes[:, :, 0] = 5.0 * (bent(level + 1e-6) - bent(level)) / 1e-6
        slopes[:, :, 1] = 5.0 * SHAPE[:, None]
        suspects = np.zeros((len(TIMES), 3, len(SUSPECTS)))
        suspects[40:, :, 0] = 1.0
        (residual,) = residuals(point.values)
        return [
            LinearisedRun(
                *(TIMES, residual, slopes, RUN, NO_PIECES, NO_PIECES, suspects),
                *(ALIKE, ZERO_EFFECTS, 0.0),
            )
        ]

    models = ResidualModel(residuals, linearise)
    return fit(Stages(models, models, models), 1, KNOWN, table)


def remembering(seed, spread=0.02):
    return drives.correlated_noise(len(TIMES), seed, spread)


@pytest.mark.fit
def test_intervals_of_a_line_in_noise_cover_as_often_as_they_say():
    covered = [
        one.low <= truth <= one.high
        for seed in range(100)
        for one, truth in zip(fitted(remembering(seed)).estimates, (2.0, -1.0), strict=True)
    ]
    assert 0.9 <= np.mean(covered) <= 0.99


def test_a_parameter_without_any_effect_keeps_its_prior():
    found = {one.name: one for one in fitted(remembering(0), SILENT).estimates}
    assert not found["silent"].is_fitted
    assert found["silent"].value == pytest.approx(0.25, rel=1e-3)
    # 95 % of what of the prior lies within the range, which ends after 1.386 spreads
    share = norm.cdf(np.log(4.0)) - norm.cdf(np.log(0.04))
    low = norm.ppf(norm.cdf(np.log(4.0)) - 0.95 * share)
    assert found["silent"].low == pytest.approx(0.25 * np.exp(low), rel=0.02)
    assert found["silent"].high == pytest.approx(1.0)
    assert found["level"].is_fitted


def test_what_is_told_from_one_side_only_has_a_lopsided_interval():
    """Below 1.9 the level shows no longer: how little it is, the run does not tell."""
    found = fitted(remembering(0), bent=lambda level: max(level, 1.9)).estimates[0]
    assert found.low < 0.0
    assert found.value < found.high < 2.1


@pytest.mark.fit
def test_the_spread_and_the_memory_of_the_noise_are_found_behind_a_fit():
    found = np.mean([fitted(remembering(seed)).scales[:3] for seed in range(40)], axis=0)
    step_s = TIMES[1] - TIMES[0]
    assert found == pytest.approx([0.02, 0.02, -step_s / np.log(0.6)], rel=0.1)


def test_a_jump_that_no_line_has_is_flagged_and_named():
    noise = remembering(3)
    assert not fitted(noise).lack_of_fit.is_significant
    noise[:, 40:] += 0.06
    lack_of_fit = fitted(noise).lack_of_fit
    assert lack_of_fit.is_significant
    assert lack_of_fit.suspect == SUSPECTS[0]


def test_a_search_for_scales_begins_and_ends_in_their_order():
    assert len(prior_scales()) == len(SCALES) == 13
    none = NO_PIECES
    run = LinearisedRun(
        TIMES, remembering(1).T, none, RUN, none, none, none, ALIKE, ZERO_EFFECTS, 0.0
    )
    scales = likeliest_scales([run], np.zeros(0), prior_scales())
    assert scales[3:] == pytest.approx(prior_scales()[3:], rel=1e-3)  # no effect: as in the prior
    white = whitened(TIMES, run.residual[:, :, None], scales)
    assert np.std(white) == pytest.approx(1.0, abs=0.1)


def sloping(slopes, differs):
    """Runs along a line whose slope may be another one in each; its prior's spread is 1."""
    columns = np.repeat(SHAPE[:, None, None], 3, axis=1)
    differing = ALIKE.copy()
    differing[:, :, [*DIFFERING].index("steer_gain")] = differs * columns[:, :, 0]
    return [
        LinearisedRun(
            *(TIMES, (remembering(seed) - slope * SHAPE).T, columns, RUN),
            *(NO_PIECES, NO_PIECES, NO_PIECES, differing, ZERO_EFFECTS, 0.0),
        )
        for seed, slope in enumerate(slopes)
    ]


def of_line(slopes, differs=True):
    """The steering's scale from run to run, and the deviation of the slope that all have."""
    runs, at = sloping(slopes, differs), np.zeros(1)
    scales = likeliest_scales(runs, at, prior_scales())
    covariance = averaged_covariance(runs, at, scales[None])
    return scales[[one.name for one in SCALES].index("run_steering_share")], covariance[0, 0] ** 0.5


def test_a_parameter_that_is_another_one_in_each_run_is_told_with_that_in_its_interval():
    apart = np.array([-0.08, 0.08, -0.05, 0.06, -0.01])
    alike, deviation = of_line(0.0 * apart)
    scale, wider = of_line(apart)
    assert alike == pytest.approx(0.01, rel=0.5)  # as in the prior
    assert 0.04 < scale < 0.09
    assert wider == pytest.approx(np.hypot(deviation, scale / 5**0.5), rel=0.2)
    assert of_line(apart, differs=False)[1] < 0.6 * wider


@pytest.mark.fit
@pytest.mark.timeout(900)
def test_that_a_gain_is_another_one_in_each_run_is_seen_and_is_in_its_interval():
    made, place = car(700000), [one.name for one in SCALES].index("run_steering_share")
    found = []
    for share in (0.0, 0.06):
        scales = made.scales.copy()
        scales[place] = share
        fit = fit_runs(NIGEL, drives_of(replace(made, scales=scales), 700000)[:3])
        (gain,) = [one for one in fit.estimates if one.name == "steer_gain"]
        assert gain.low <= made.values["steer_gain"] <= gain.high
        found.append((fit.scales[place], gain.high - gain.low))
    (alike, narrow), (apart, wide) = found
    assert alike < 0.02 < 0.04 < apart
    assert wide > 1.2 * narrow
