"""Where a car reckoned itself to be at a time of its own."""

from dataclasses import replace
from math import pi

import pytest

from host_bridge.mapping.poses.odometry_track import OdometryTrack
from tests.host_bridge.inputs.paths.test_follower import MOTION
from tests.host_bridge.mapping.poses.made_poses import WRAP_US


def track(*rows):
    made = OdometryTrack()
    for captured_us, x_m, yaw_rad in rows:
        made.add(replace(MOTION, captured_us=captured_us, x_m=x_m, yaw_rad=yaw_rad))
    return made


def test_between_two_reports_it_is_interpolated_over_a_turn_of_the_yaw_too():
    made = track((0, 0.0, pi - 0.1), (20_000, 1.0, -pi + 0.1))
    assert made.at(10_000) == pytest.approx((0.5, 0.0, pi))
    assert made.at(20_000) == pytest.approx((1.0, 0.0, pi + 0.1))


def test_before_the_first_and_after_the_newest_nothing_is_known():
    made = track((20_000, 0.0, 0.0), (40_000, 1.0, 0.0))
    assert made.at(19_999) is None
    assert made.at(40_001) is None
    assert OdometryTrack().at(0) is None
    assert not OdometryTrack().has_any


def test_the_cars_clock_counts_on_over_its_wrap():
    made = track((WRAP_US - 10_000, 0.0, 0.0), (10_000, 1.0, 0.0))
    assert made.at(made.car_us(0, is_host_time=False)) == pytest.approx((0.5, 0.0, 0.0))


def test_a_report_that_is_known_or_older_is_left_out_and_the_way_is_counted():
    made = track((0, 0.0, 0.0), (20_000, 1.0, 0.0), (20_000, 9.0, 0.0), (10_000, 9.0, 0.0))
    assert made.driven_m == pytest.approx(1.0)
    assert made.newest_us == 20_000
