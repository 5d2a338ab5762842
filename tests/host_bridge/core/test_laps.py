"""Laps over the line through a start, from where a car is."""

from __future__ import annotations

from math import cos, pi, sin

import pytest

from host_bridge.core.laps import Laps

RADIUS_M, SECOND_US = 5.0, 1_000_000


def round_a_circle(laps: Laps, turns: float, lap_s: float, at_us: int = 0, way: int = 1) -> int:
    """From the start at 0, 0, looking along x; returns when it ended."""
    steps = round(turns * lap_s * 100)
    for i in range(steps + 1):
        angle = way * 2.0 * pi * i / (lap_s * 100)
        now_us = at_us + i * 10_000
        laps.step(RADIUS_M * sin(angle), RADIUS_M * (1.0 - cos(angle)), now_us)
    return at_us + steps * 10_000


def test_laps_are_counted_and_timed():
    laps = Laps(0.0, 0.0, 0.0)
    now_us = round_a_circle(laps, 1.1, 10.0)
    assert laps.count == 1
    assert laps.last_s == laps.best_s == pytest.approx(10.0, abs=0.05)
    assert laps.time_s == pytest.approx(1.0, abs=0.05)
    round_a_circle(laps, 0.5, 10.0, now_us)
    assert laps.count == 1


def test_the_best_lap_stays_when_a_slower_one_follows():
    laps = Laps(0.0, 0.0, 0.0)
    now_us = round_a_circle(laps, 1.0, 10.0)
    round_a_circle(laps, 1.001, 20.0, now_us)
    assert laps.count == 2
    assert laps.last_s == pytest.approx(20.0, abs=0.1)
    assert laps.best_s == pytest.approx(10.0, abs=0.1)


def test_nothing_counts_before_it_leaves_nor_the_wrong_way_round():
    laps = Laps(0.0, 0.0, 0.0)
    laps.step(0.0, 0.0, 5 * SECOND_US)
    assert (laps.count, laps.time_s) == (0, 0.0)
    round_a_circle(laps, 2.2, 10.0, way=-1)
    assert laps.count == 0


def test_a_lap_of_a_small_track_counts_where_it_is_told_how_small():
    far, near = Laps(0.0, 0.0, 0.0), Laps(0.0, 0.0, 0.0, away_m=0.5)
    for laps in (far, near):
        for i in range(1010):
            angle = 2.0 * pi * i / 1000
            laps.step(sin(angle), 1.0 - cos(angle), i * 10_000)
    assert (far.count, near.count) == (0, 1)


def test_to_and_fro_over_the_line_is_no_lap():
    laps = Laps(0.0, 0.0, 0.0)
    for i in range(10):
        for x_m in (-0.5, 0.5):
            laps.step(x_m, 0.0, i * SECOND_US)
    assert laps.count == 0
