"""The real Nigel: fitted on two runs, predicted on the third, which no fit has seen."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from calibration.bayesian_fit.run_fit import fit_runs
from calibration.files.calibration import Calibration
from calibration.files.calibration_file import read_calibration, shipped_calibration
from calibration.logs.run_csv import read_run_csv
from calibration.replay.band import driven_steering
from calibration.replay.replay import replay
from calibration.simulation.command_queue import opening_s
from calibration.simulation.kinematic import KinematicNumbers, kinematic
from calibration.simulation.plant_numbers import plant_parameters
from tests.calibration.drives import NIGEL
from tests.support.evidence import every, some

DATA = Path(__file__).parents[3] / "shared" / "data" / "nigel"
FITTED = ("straight", "skidpad_lht_0_1")
UNSEEN = "skidpad_lht_0_2"
RUNS = (*FITTED, UNSEEN)
LOCK_RAD = 0.5236

# What is left out, and how wide its band is at the end at most, in m and rad either side.
THIRDS = (("straight", 0.8, 0.8), ("skidpad_lht_0_1", 0.3, 0.3), ("skidpad_lht_0_2", 0.5, 0.5))

# What is published of this car, read in every way, the best for the untuned model too.
PUBLISHED = {
    "vehicle file": KinematicNumbers(0.442, LOCK_RAD, -1.0),
    "front wheels only": KinematicNumbers(0.442, LOCK_RAD, 0.0),
    "speed of the simulated Nigel": KinematicNumbers(0.267, LOCK_RAD, -1.0),
    "both": KinematicNumbers(0.267, LOCK_RAD, 0.0),
}

pytestmark = pytest.mark.skipif(
    not DATA.exists(), reason=f"needs the logs of the project's shared data: {DATA}"
)


@pytest.fixture(scope="module")
def kept():
    """The calibration that Tandem brings along."""
    path = shipped_calibration("nigel")
    assert path is not None
    return read_calibration(path)


def run_of(name):
    return read_run_csv(DATA / f"{name}_commands.csv", DATA / f"{name}_odometry.csv")


@pytest.mark.fit
def test_the_kept_numbers_are_those_of_a_fit_on_the_two_runs(kept):
    runs = [run_of(name) for name in FITTED]
    assert every(map(kept.was_fitted_on, runs))
    for one, again in zip(kept.estimates, fit_runs(NIGEL, runs).estimates, strict=True):
        assert one.is_fitted == again.is_fitted
        assert again.value == pytest.approx(one.value, rel=0.03, abs=2e-3)
        assert again.low == pytest.approx(one.low, rel=0.05, abs=2e-3)
        assert again.high == pytest.approx(one.high, rel=0.05, abs=2e-3)


def test_nothing_was_fitted_on_the_run_that_is_predicted(kept):
    assert not kept.was_fitted_on(run_of(UNSEEN))
    assert len(kept.fitted_on) == len(FITTED)


def test_end_point_sides_stiffness_and_servo_are_hardly_told_by_these_logs(kept):
    left = [one.name for one in kept.estimates if not one.is_fitted]
    assert left == [
        *("steer_lock_ratio", "steer_asymmetry", "tyre_stiffness_front_per_rad", "steer_rate_radps")
    ]
    assert every(one.low <= one.known <= one.high for one in kept.estimates if not one.is_fitted)
    assert not kept.fit.lack_of_fit.is_significant
    assert kept.fit.steering == pytest.approx((0.2, 0.3))


@pytest.mark.fit
@pytest.mark.parametrize(("unseen", "width_m", "width_rad"), THIRDS)
def test_fitted_on_any_two_the_third_lies_in_the_band(unseen, width_m, width_rad):
    """The band's width at its end is stated; what was not driven between is marked."""
    fitted = [run_of(name) for name in RUNS if name != unseen]
    fit = fit_runs(NIGEL, fitted)
    fit = replace(fit, steering=driven_steering(fitted, fit.values))
    calibration = Calibration("nigel", "", "", (), fit.estimates, fit=fit)
    shown = replay(NIGEL, fit.values, run_of(unseen), calibration)
    assert not fit.lack_of_fit.is_significant
    assert every(shown.is_inside())
    assert shown.band.position_m[-1] < width_m
    assert shown.band.yaw_rad[-1] < width_rad
    is_between = unseen == "skidpad_lht_0_1"
    assert shown.band.is_extrapolated.any() != is_between
    assert shown.errors(shown.twin).summary(shown.first_sample).position_rms_m < 0.05


@pytest.mark.parametrize("name", FITTED)
def test_the_twin_follows_what_it_was_fitted_on_within_the_noise(kept, name):
    shown = replay(NIGEL, kept.values, run_of(name))
    summary = shown.errors(shown.twin).summary(shown.first_sample)
    assert summary.position_rms_m < 0.02
    assert summary.yaw_rms_rad < 0.02


def test_the_unseen_run_is_predicted_within_the_noise_of_its_odometry(kept):
    """0.022 m and 0.018 rad against 1.367 m and 3.911 rad, from one start pose."""
    shown = replay(NIGEL, kept.values, run_of(UNSEEN))
    twin, untuned = (
        shown.errors(poses).summary(shown.first_sample) for poses in (shown.twin, shown.untuned)
    )
    assert twin.position_rms_m < 0.03
    assert twin.position_last_m < 0.04
    assert twin.yaw_rms_rad < 0.025
    for better, worse in zip(twin, untuned, strict=True):
        assert 40.0 * better < worse


@pytest.mark.parametrize("car", PUBLISHED.values(), ids=PUBLISHED)
def test_it_beats_the_published_numbers_fifteenfold_however_they_are_read(kept, car):
    run = run_of(UNSEEN)
    shown = replay(NIGEL, kept.values, run)
    poses = kinematic(run, car, plant_parameters(NIGEL).body)
    twin, untuned = (shown.errors(one).summary(shown.first_sample) for one in (shown.twin, poses))
    for better, worse in some(zip(twin, untuned, strict=True)):
        assert 15.0 * better < worse


def test_the_car_starts_where_the_messages_jump_not_where_they_begin():
    """Why there is an opening: seen on the two runs that were fitted on."""
    started = {name: started_s(run_of(name)) for name in FITTED}
    runs = {name: run_of(name).commands.t_s for name in FITTED}
    after_first = [started[name] - runs[name][0] for name in FITTED]
    after_jump = [started[name] - opening_s(runs[name]) for name in FITTED]
    assert np.ptp(after_first) > 0.15
    assert np.ptp(after_jump) < 0.05


def started_s(run):
    """Where the line through the steady part of its way meets the start."""
    x_m, y_m, _ = run.start_pose()
    o = run.odometry
    way_m = np.hypot(o.x_m - x_m, o.y_m - y_m)
    steady = (way_m > 0.1) & (way_m < way_m[-1] - 0.1)
    return np.polyfit(way_m[steady], o.t_s[steady], 1)[1]


def test_stiffness_would_hardly_show_even_a_tenfold_one(kept):
    run = run_of(UNSEEN)
    ways = [
        replay(NIGEL, {**kept.values, "tyre_stiffness_front_per_rad": c}, run).twin
        for c in (2.0, 20.0)
    ]
    apart_m = np.hypot(ways[0].x_m - ways[1].x_m, ways[0].y_m - ways[1].y_m)
    assert apart_m.max() < 0.01  # noise of the odometry
