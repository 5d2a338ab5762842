"""Whole seconds by a time receiver's pulse."""

import pytest

from firmware.drivers.pps import Pps


def test_whole_seconds_are_told_and_noise_is_refused():
    pps = Pps(lambda: 0)
    pps.edge(400_000)  # noise before the first
    for second in range(1, 6):
        pps.edge(second * 1_000_100)
        pps.edge(second * 1_000_100 + 300)
    pps.step(5_000_600)
    assert (pps.count, pps.second_us, pps.refused) == (3, 5_000_500, 6)
    assert pps.freshness.is_fresh
    pps.step(7_500_501)
    assert not pps.freshness.is_fresh


def test_a_missing_second_breaks_the_count_but_not_the_next_ones():
    pps = Pps(lambda: 0)
    for at_us in (0, 1_000_000, 3_000_000, 4_000_000):
        pps.edge(at_us)
    assert (pps.count, pps.second_us, pps.refused) == (2, 4_000_000, 0)


@pytest.mark.parametrize(
    ("gap_us", "counts", "refused"),
    [(999_499, 0, 1), (999_500, 1, 0), (1_000_500, 1, 0), (1_000_501, 0, 0)],
)
def test_a_second_is_one_within_500_us(gap_us, counts, refused):
    pps = Pps(lambda: 0)
    pps.step(0)
    assert not pps.freshness.is_fresh
    pps.edge(10)
    pps.edge(10 + gap_us)
    pps.step(10 + gap_us)
    assert (pps.count, pps.refused, pps.freshness.is_fresh) == (counts, refused, counts == 1)
    pps.step(10 + gap_us + 2_500_000)
    assert pps.freshness.is_fresh == (counts == 1)
    pps.step(10 + gap_us + 2_500_001)
    assert not pps.freshness.is_fresh
