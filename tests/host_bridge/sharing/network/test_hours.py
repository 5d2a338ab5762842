"""A guest drives for hours of virtual time through bad air: no stop that nobody meant."""

from __future__ import annotations

import random

import pytest

from host_bridge.core.files.link_traces import Probe, write_trace
from host_bridge.link.transports.lossy_line import LineTrace
from tests.host_bridge.sharing.network.hours import (
    LINES,
    Driven,
    TracedWay,
    drive,
    drive_recorded,
    drives,
)
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


@pytest.mark.parametrize("gap", [0, 40], ids=["no gap", "a gap of 0.2 s"])
def test_a_recorded_air_is_driven_once_to_its_end_and_a_gap_of_it_stops_the_car(gap, tmp_path):
    """Ten seconds, a tenth lost each way, 10 ms; the gap begins after six."""
    source, probes = random.Random(35), []
    for number in range(2000):
        up, down = (None if source.random() < 0.1 else 0.01 for _ in range(2))
        up = None if 1200 <= number < 1200 + gap else up
        probes.append(Probe(0.005 * number, up, down if up else None))
    path = tmp_path / "hall.csv"
    write_trace(path, probes, [])
    found = drive_recorded(path)
    assert found.stops == (gap > 0), found.causes
    assert ["stopped" in it for it in found.causes] == [True] * (gap > 0)
    assert (found.driving_s > 4.9) == (gap == 0)
    assert 0.05 < found.lost_up / found.up < 0.15


def test_a_recorded_way_delivers_what_arrived_and_never_begins_anew():
    way = TracedWay(LineTrace([(0, 30_000), (5000, None), (10_000, 4000)]), 0.010, 7_000_000)
    for number in range(2):
        way.take(b"%d" % number, 7.0 + 0.005 * number)
    way.take(b"2", 7.0099)
    assert (way.counts.taken, way.counts.lost) == (3, 2)
    assert way.due(7.0299) == []
    assert way.due(7.03) == [b"0"]
    with pytest.raises(AssertionError, match="no trace begins anew"):
        way.take(b"3", 7.01)


@pytest.mark.parametrize(
    ("driven", "is_held"),
    [
        (Driven(seconds=100.0, driving_s=99.0), True),
        (Driven(seconds=100.0, driving_s=98.9), False),
        (Driven(seconds=100.0, driving_s=100.0, stops=1), False),
        (Driven(), False),
    ],
)
def test_hours_are_held_if_nothing_stopped_and_nearly_all_was_driven(driven, is_held):
    assert driven.is_held == is_held


@pytest.mark.exhaustive  # a quarter of an hour of virtual time, which takes minutes
def test_no_stop_in_a_quarter_of_an_hour_at_ten_percent_loss():
    found = drives(QUARTER_H, LINES[AT_TEN], "night")
    assert found.stops == 0, found.causes
    assert found.driving_s / found.seconds > 0.99
    assert abs(found.lost_up / found.up - 0.1) < 0.005
