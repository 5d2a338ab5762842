"""Logs of one car that differ: intervals are widened by it, or no mean of them is told."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from calibration.parameters import Estimate, not_identifiable
from calibration.regression.agreement import told_by_one_log, where_logs_agree
from calibration.regression.identify import identify
from host_bridge.config import load_vehicle
from tests.calibration.regression.test_constant_speed import GAIN, driven
from tests.support.evidence import some

SPEEDS_MPS = (1.0, 1.8, 2.6)
F1TENTH = load_vehicle("f1tenth")


def by_name(estimates):
    return {one.name: one for one in estimates}


def told(name, value, half):
    return Estimate(name, value, value - half, value + half)


def agreed(together, **alone):
    return by_name(where_logs_agree(together, [*alone.items()]))


def test_it_is_said_which_logs_disagree_and_by_how_much():
    counts, delay = told("counts_per_m", 566.0, 600.0), told("steer_delay_s", 0.05, 0.01)
    found = agreed(
        [counts, delay],
        a=[told("counts_per_m", 540.0, 3.0), delay],
        b=[told("counts_per_m", 542.0, 3.0), delay],
        c=[told("counts_per_m", 600.0, 4.0), not_identifiable("steer_delay_s", "no")],
    )
    assert found["steer_delay_s"] == delay
    assert not found["counts_per_m"].is_estimated
    assert found["counts_per_m"].why == (
        "its logs disagree by 60 1/m: a has 540 (537 to 543), c has 600 (596 to 604)"
    )


def test_logs_within_their_intervals_agree_and_one_alone_always_does():
    lag = told("steer_lag_s", 0.06, 0.01)
    near = {"a": [told("steer_lag_s", 0.058, 0.02)], "b": [told("steer_lag_s", 0.062, 0.02)]}
    assert agreed([lag], **near) == {"steer_lag_s": lag}
    assert agreed([lag], a=[told("steer_lag_s", 0.4, 0.0001)]) == {"steer_lag_s": lag}


def run_to_run(rng, count, deviation, noise):
    """The gain of a car whose gain is 1 in the mean of all its runs, by so many logs of it."""
    noises = noise * rng.uniform(0.5, 2.0, count)
    values = rng.normal(1.0, deviation, count) + noises * rng.normal(size=count)
    weights = noises**-2.0
    mean, half = np.sum(weights * values) / np.sum(weights), 1.96 * np.sum(weights) ** -0.5
    alone = {
        str(at): [told("steer_gain_left", float(value), 1.96 * float(own))]
        for at, (value, own) in enumerate(zip(values, noises, strict=True))
    }
    together = told("steer_gain_left", float(mean), float(half))
    return together, agreed([together], **alone)["steer_gain_left"]


@pytest.mark.parametrize("count", [2, 3, 5])
@pytest.mark.parametrize(("most", "held"), [(0.01, 0.925), (0.02, 0.91)])
def test_intervals_hold_though_the_car_differs_from_run_to_run(count, most, held):
    """By up to as much as a log is off, and by up to twice as much; 95 % is what they say."""
    rng = np.random.default_rng(count)
    found = [
        run_to_run(rng, count, deviation, 0.01)
        for deviation in np.linspace(0.0, most, 3)
        for _ in range(400)
    ]
    every = [(together, one) for together, one in found if one.is_estimated]
    assert len(every) > 0.75 * len(found)
    assert held < np.mean([one.low <= 1.0 <= one.high for _, one in every]) < 0.98


def test_intervals_of_logs_that_differ_by_twice_their_noise_hold():
    rng = np.random.default_rng(7)
    found = [run_to_run(rng, 3, 0.02, 0.01)[1] for _ in range(600)]
    told = [one for one in found if one.is_estimated]
    assert len(told) > 0.6 * len(found)
    assert np.mean([one.low <= 1.0 <= one.high for one in told]) > 0.88


def test_an_interval_is_as_wide_as_the_differences_and_no_narrower_than_the_noise():
    lag = told("steer_lag_s", 0.03, 0.014)

    def beside(by):
        logs = {
            at: [told("steer_lag_s", 0.03 + side, 0.02)] for at, side in (("a", -by), ("b", by))
        }
        return agreed([lag], **logs)["steer_lag_s"]

    assert beside(0.002) == lag
    assert beside(0.005).high == pytest.approx(lag.value + 0.030, abs=0.001)
    assert beside(0.016).low == 0.0  # the least there is
    # what all logs share is no part of their differences, and is added to them
    shared = replace(lag, high=0.05)
    logs = {
        at: [told("steer_lag_s", 0.03 + side, 0.02)] for at, side in (("a", -5e-3), ("b", 5e-3))
    }
    both = agreed([shared], **logs)["steer_lag_s"]
    assert both.high - 0.03 == pytest.approx(np.hypot(beside(0.005).high - 0.03, 0.0143), abs=1e-3)


def test_what_fewer_than_two_logs_tell_holds_for_one_run():
    gain, bias = told("steer_gain_left", 1.0, 0.1), told("yaw_rate_bias_radps", 0.0, 0.01)
    lag = told("steer_lag_s", 0.05, 0.01)
    assert told_by_one_log([gain, bias], [[gain, bias]]) == ("steer_gain_left", bias.name)
    assert told_by_one_log([gain, bias, lag], [[gain, bias], [gain]]) == ("steer_lag_s",)


def test_a_bias_that_is_another_one_at_each_start_is_no_disagreement():
    bias = told("yaw_rate_bias_radps", 0.0, 0.01)
    starts = {at: [told("yaw_rate_bias_radps", value, 1e-4)] for at, value in (("a", 0), ("b", 1))}
    assert agreed([bias], **starts) == {"yaw_rate_bias_radps": bias}


def test_what_is_found_together_is_not_told_either():
    full, dead = told("full_effort_mps", 5.0, 0.1), told("dead_effort", 0.1, 0.01)
    found = agreed(
        [full, dead],
        a=[told("full_effort_mps", 4.0, 0.1), dead],
        b=[told("full_effort_mps", 6.0, 0.1), dead],
    )
    assert not any(one.is_estimated for one in some(found.values()))
    assert found["dead_effort"].why == "its logs disagree on full_effort_mps"


@pytest.mark.fit
def test_of_two_gains_no_mean_is_told_and_no_map():
    logs = [
        driven(SPEEDS_MPS, 4, file="before.mcap"),
        driven(SPEEDS_MPS, 5, gain=0.75 * GAIN, file="after.mcap"),
    ]
    found = identify(logs, F1TENTH)
    gain = found.estimate("steer_gain_left")
    assert not gain.is_estimated
    assert gain.why.startswith("its logs disagree by 0.2")
    assert "before.mcap has" in gain.why
    assert "after.mcap has 0.7" in gain.why
    assert not found.estimate("steer_trim_rad").is_estimated
    assert found.steering_map is None


@pytest.mark.fit
def test_of_two_floors_the_steering_is_told_and_the_tyres_are_not():
    logs = [driven(SPEEDS_MPS, 4, file="hall"), driven(SPEEDS_MPS, 5, understeer=0.2, file="lab")]
    found = identify(logs, F1TENTH)
    understeer = found.estimate("understeer_s2_per_m2")
    assert not understeer.is_estimated
    assert "lab has 0.1" in understeer.why
    assert not found.estimate("tyre_stiffness_front_per_rad").is_estimated


@pytest.mark.fit
def test_two_drives_of_one_car_agree():
    logs = [driven(SPEEDS_MPS, seed, file=str(seed)) for seed in (4, 5)]
    found = identify(logs, F1TENTH)
    assert "disagree" not in " ".join(one.why for one in some(found.estimates))
    gain = found.estimate("steer_gain_left")
    assert gain.low <= GAIN <= gain.high
