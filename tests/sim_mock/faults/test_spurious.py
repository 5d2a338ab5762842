"""How often a bad line stops a car for nothing: computed, simulated bare, and on the program."""

import random
from math import inf

import pytest

from host_bridge.config import load_vehicle
from sim_mock.faults.bounds.spurious import (
    RATES_HZ,
    LossChain,
    check,
    checks,
    expected,
    losses_that_stop,
    table,
)


def claims_until(loss, run, chance):
    """Counted, claim by claim."""
    claims = lost = 0
    while lost < run:
        claims += 1
        lost = lost + 1 if chance.random() < (loss.again if lost else loss.first) else 0
    return claims


@pytest.mark.parametrize("loss", [LossChain(0.5, 0.5), LossChain(0.2, 0.7), LossChain(0.4, 0.4)])
@pytest.mark.parametrize("run", [1, 2, 5])
def test_the_equations_give_what_counting_gives(loss, run):
    chance = random.Random(1)
    counted = [claims_until(loss, run, chance) for _ in range(4000)]
    mean = loss.claims_until(run)
    assert sum(counted) / len(counted) == pytest.approx(mean, rel=4 / 4000**0.5)


def test_one_loss_of_a_half_takes_two_claims():
    assert LossChain(0.5, 0.5).claims_until(1) == pytest.approx(2)
    assert LossChain(0.0, 0.0).claims_until(3) == inf


def test_rare_runs_are_computed_without_rounding_away():
    share, run = 0.01, 11
    exact = (share**-run - 1) / (1 - share)
    assert LossChain(share, share).claims_until(run) == pytest.approx(exact)


def test_a_chain_is_bad_for_its_share_of_the_time():
    loss = LossChain.of(0.1, 20.0, 10.0)
    good, bad = 0.9, 0.1
    assert good * loss.first + bad * loss.again == pytest.approx(0.1)
    assert loss.again > loss.first


def test_a_burst_has_its_mean_length():
    every_ms = 0.01
    loss = LossChain.of(0.1, 20.0, every_ms)
    assert every_ms / (1.0 - loss.again) == pytest.approx(20.0, rel=0.01)


def test_a_lease_holds_eleven_claims_at_100_hz_and_two_at_20():
    fewest = {rate: min(losses_that_stop(rate, phase) for phase in range(10)) for rate in RATES_HZ}
    assert fewest == {20: 2, 50: 5, 100: 11}


def test_ten_percent_of_random_loss_stops_less_than_once_in_1000_hours_at_100_hz():
    assert expected(100, 0.1, 0.0).seconds > 1000 * 3600
    assert expected(20, 0.1, 0.0).seconds < 10


def test_the_table_has_every_row():
    assert len({(row.rate_hz, row.share, row.burst_ms) for row in table()}) == 36


@pytest.mark.exhaustive(as_a_whole=True)  # a statistic over long drives
@pytest.mark.parametrize("row", checks())
def test_the_program_stops_as_often_as_was_computed(row):
    result = check(row, load_vehicle("nigel"))
    assert result.held, result


@pytest.mark.exhaustive
def test_all_rows_together_are_neither_too_short_nor_too_long():
    """Each row may be off by chance, not all of them to one side. AutoRally's lease is shorter."""
    results = [check(row, load_vehicle("autorally")) for row in checks()]
    assert {result.lease_ms for result in results} == {100}
    off = sum((result.measured_s - result.computed_s) / result.error_s for result in results)
    assert abs(off) / len(results) ** 0.5 < 3.0, results


@pytest.mark.exhaustive
def test_a_shorter_lease_than_computed_would_be_found(monkeypatch):
    """The check can fail: at 20 Hz, one lost claim instead of two."""
    monkeypatch.setattr("sim_mock.faults.trial.host.TrialHost.claim", _short_claim())
    assert not check(0, load_vehicle("nigel")).held


def _short_claim():
    from sim_mock.faults.trial.host import TrialHost

    claim = TrialHost.claim
    return lambda self, **changes: claim(self, **{**changes, "lease_ms": 70})


@pytest.mark.exhaustive
def test_more_rounds_are_more_stops_and_a_smaller_error():
    once, twice = (check(0, load_vehicle("nigel"), rounds=rounds) for rounds in (1, 2))
    assert (once.stops, twice.stops) == (60, 120)
    assert twice.error_s == pytest.approx(once.error_s / 2**0.5, rel=0.05)
