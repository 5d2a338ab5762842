"""A guest drives for hours of virtual time through bad air: no stop that nobody meant."""

from __future__ import annotations

import pytest

from tests.host_bridge.sharing.network.hours import LINES, drive, drives
from tests.ros.reaction.impairment import LineSettings

AT_TEN = "10 % lost, 10 ms one way"
QUARTER_H = 0.25  # `python -m tests.host_bridge.sharing.network.hours` drives ten hours


def test_a_guest_arms_and_drives_through_the_sealed_session():
    found = drive(2.0, LINES[AT_TEN], "short")
    assert found.stops == 0, found.causes
    assert found.driving_s > 1.9
    assert 0.05 < found.lost_up / found.up < 0.15
    assert found.sessions == 1


def test_an_air_that_cannot_be_driven_is_found_out():
    """The harness notices a stop, and says why."""
    found = drive(5.0, LineSettings(loss=0.9, delay_s=0.01), "awful")
    assert found.stops == 1
    assert found.causes[0]


@pytest.mark.exhaustive  # a quarter of an hour of virtual time, which takes minutes
def test_no_stop_in_a_quarter_of_an_hour_at_ten_percent_loss():
    found = drives(QUARTER_H, LINES[AT_TEN], "night")
    assert found.stops == 0, found.causes
    assert found.driving_s / found.seconds > 0.99
    assert abs(found.lost_up / found.up - 0.1) < 0.005
