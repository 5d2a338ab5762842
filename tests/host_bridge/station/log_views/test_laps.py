"""The laps of a log's car: where they begin, and what a moment of one says."""

from __future__ import annotations

from math import cos, pi, sin

import pytest

from host_bridge.station.log_views.laps import LapMoment, lap_at, lap_begins

EVERY_S = 0.02  # a report of a car's motion
STANDS_S = 1.0


def circles(radius_m: float, lap_s: float, laps: float):
    """A car that stands, and then drives circles to the left from where it stood."""
    times_s = [n * EVERY_S for n in range(round((STANDS_S + laps * lap_s) / EVERY_S) + 1)]
    angles = [max(at_s - STANDS_S, 0.0) * 2.0 * pi / lap_s for at_s in times_s]
    poses = [(radius_m * sin(a), radius_m * (1.0 - cos(a)), a) for a in angles]
    return times_s, poses


@pytest.mark.parametrize("radius_m", [0.4, 1.0, 20.0])  # a Nigel's circle, a room, a race track
def test_laps_begin_over_the_line_where_it_stood_however_large_the_track(radius_m):
    times_s, poses = circles(radius_m, 8.0, 3.4)
    begins_s = lap_begins(times_s, poses, STANDS_S)
    assert begins_s == pytest.approx((1.0, 9.0, 17.0, 25.0), abs=0.05)


def test_of_less_than_a_lap_of_a_straight_and_of_a_car_that_stands_there_is_none():
    assert lap_begins(*circles(2.0, 8.0, 0.9), STANDS_S) == ()
    times_s = [n * EVERY_S for n in range(500)]
    assert lap_begins(times_s, [(it, 0.0, 0.0) for it in times_s], 0.0) == ()
    assert lap_begins(times_s, [(0.0, 0.0, 0.0) for _ in times_s], 0.0) == ()
    assert lap_begins([], [], 0.0) == ()


def test_a_moment_says_its_lap_the_last_and_the_best_one():
    begins_s = (1.0, 9.0, 16.0, 24.0)
    assert lap_at(begins_s, 0.5) is None
    assert lap_at((), 5.0) is None
    assert lap_at(begins_s, 3.0) == LapMoment(1, 2.0, None, None)
    assert lap_at(begins_s, 9.0) == LapMoment(2, 0.0, 8.0, 8.0)
    assert lap_at(begins_s, 17.0) == LapMoment(3, 1.0, 7.0, 7.0)
    assert lap_at(begins_s, 30.0) == LapMoment(4, 6.0, 8.0, 7.0)
