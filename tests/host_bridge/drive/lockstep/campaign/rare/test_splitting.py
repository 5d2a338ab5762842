"""Splitting on a chain of losses whose probability is exact: unbiased, and intervals that hold."""

from __future__ import annotations

from itertools import product
from math import sqrt
from statistics import mean, stdev

import pytest

from host_bridge.drive.lockstep.campaign.rare.estimate import estimate
from host_bridge.drive.lockstep.campaign.rare.splitting import split
from tests.host_bridge.drive.lockstep.campaign.rare.chain import (
    ChainBranches,
    loss_for,
    probability,
)
from tests.support.evidence import every

RUN, CLAIMS, WANTED = 8, 60, 1.0 / 5000.0
LOSS = loss_for(WANTED, RUN, CLAIMS)


def row_of(found):
    return {
        "share": found.share,
        "relative_variance": found.relative_variance,
        "runs": found.runs,
        "virtual_s": 0.0,
        "is_cut": found.is_cut,
        "branches": [],
    }


def campaign(seed, branches=None, replicates=6, particles=24, most_runs=166):
    """Return the estimate of one campaign on the chain, as ``[design]`` has it by default."""
    branches = branches or ChainBranches(LOSS, RUN, CLAIMS)
    rows = [
        row_of(split(branches, particles, most_runs, 1000 * seed + number))
        for number in range(replicates)
    ]
    return estimate(rows, 0.95)


def test_the_exact_probability_is_that_of_all_sequences():
    for run, claims in ((2, 5), (3, 7)):
        sequences = ["".join(it) for it in product("01", repeat=claims)]
        found = sum(
            0.3 ** it.count("1") * 0.7 ** it.count("0") for it in sequences if "1" * run in it
        )
        assert probability(0.3, run, claims) == pytest.approx(found, rel=1e-12)
    assert probability(LOSS, RUN, CLAIMS) == pytest.approx(WANTED, rel=1e-9)


@pytest.mark.parametrize("forgets", [0, 2])
def test_the_mean_of_many_estimates_is_the_probability(forgets):
    """With a level that forgets the last steps, too: it is then less exact, and not wrong."""
    loss = loss_for(0.01, 5, 30)
    branches = ChainBranches(loss, 5, 30, forgets=forgets)
    shares = [split(branches, 10, 1000, seed).share for seed in range(600)]
    error = stdev(shares) / sqrt(len(shares))
    assert abs(mean(shares) - 0.01) < 3.5 * error  # one test in 2000 fails by chance
    assert error < 0.001


def test_equal_seeds_draw_the_same_and_others_do_not():
    branches = ChainBranches(LOSS, RUN, CLAIMS)
    first, again, other = (split(branches, 24, 1000, seed) for seed in (1, 1, 2))
    assert (first.share, first.steps, first.runs) == (again.share, again.steps, again.runs)
    assert (first.share, first.runs) != (other.share, other.runs)


@pytest.mark.exhaustive(as_a_whole=True)  # 200 campaigns on the chain; single ones are above
@pytest.mark.parametrize("forgets", [0, 2])
def test_nine_intervals_of_ten_hold_the_truth_at_least(forgets):
    found = [
        campaign(seed, ChainBranches(LOSS, RUN, CLAIMS, forgets=forgets)) for seed in range(200)
    ]
    assert every(it.runs <= 1000 for it in found)
    held = sum(it.low is not None and it.low <= WANTED <= it.high for it in found)
    assert held >= 182, held  # 0.95 of 200 less 2.6 standard deviations


def test_what_takes_too_many_runs_is_cut_and_says_so():
    branches = ChainBranches(LOSS, RUN, CLAIMS)
    found = split(branches, 24, 60, 1)
    assert found.is_cut
    assert 24 <= found.runs <= 60
    cut = estimate([row_of(found)] * 2, 0.95)
    assert cut.cut == 2


def test_no_failure_is_no_interval():
    branches = ChainBranches(0.0, RUN, CLAIMS)
    it = campaign(1, branches)
    assert (it.share, it.low, it.high, it.extinct) == (0.0, None, None, 6)
    assert it.runs == 6 * 24, "nothing came nearer than the rest: there is nothing to split"


def test_what_always_fails_has_the_probability_one():
    it = campaign(1, ChainBranches(1.0, RUN, CLAIMS))
    assert (it.share, it.low, it.high, it.runs) == (1.0, 1.0, 1.0, 6 * 24)


def test_a_spread_among_replicates_widens_the_interval():
    alike = {"relative_variance": 0.0, "runs": 1, "virtual_s": 1.0, "is_cut": False, "branches": []}
    narrow = estimate([{**alike, "share": 0.1}] * 3, 0.95)
    assert (narrow.low, narrow.high) == (pytest.approx(0.1), pytest.approx(0.1))
    wide = estimate([{**alike, "share": it} for it in (0.05, 0.1, 0.15)], 0.95)
    # 4.303 is Student's quantile of 2 degrees of freedom; the mean's relative error is 0.2887
    assert wide.high / wide.share == pytest.approx(2.718281828 ** (4.303 * 0.28868), rel=1e-3)
    killed = estimate([{**alike, "share": 0.1, "relative_variance": 0.12}] * 3, 0.95)
    assert killed.high / killed.share == pytest.approx(2.718281828 ** (1.96 * 0.2), rel=1e-3)
    assert estimate([], 0.95) is None
