"""The states of a log's cars above the slider: each as wide as it was long."""

from __future__ import annotations

import pytest

pytest.importorskip("nicegui", reason="the logs' page needs tandem-cars[station]")

from host_bridge.station.log_views.series import CarRun
from host_bridge.station.log_views.state_strip import Segment, lap_ticks, segments

RUN = CarRun(states=[(0.0, "STANDBY"), (2.0, "ACTIVE"), (8.0, "STOPPED")])


def test_each_state_is_as_wide_as_it_was_long():
    assert list(segments(RUN, 0.0, 10.0, (0.0, 10.0))) == [
        Segment(0.0, 0.2, "PARKED"),
        Segment(0.2, 0.8, "DRIVING"),
        Segment(0.8, 1.0, "STOPPED"),
    ]


def test_a_log_that_begins_before_the_others_is_cut_where_the_page_begins():
    """Laid together at its motion, 2 s after its beginning; the page shows from 1 s before that."""
    found = list(segments(RUN, 2.0, 10.0, (-1.0, 9.0)))
    assert found == [
        Segment(0.0, 0.1, "PARKED"),
        Segment(0.1, 0.7, "DRIVING"),
        Segment(0.7, 0.9, "STOPPED"),
    ]


def test_a_state_that_this_program_does_not_know_is_said_as_that():
    (one,) = segments(CarRun(states=[(0.0, "SOARING")]), 0.0, 1.0, (0.0, 1.0))
    assert one.word == "NO LINK"


def test_without_any_length_nothing_is_drawn():
    assert not list(segments(RUN, 0.0, 0.0, (0.0, 0.0)))


def test_each_lap_begins_where_its_tick_is():
    car = CarRun(laps_s=(2.0, 5.0, 8.0))
    assert list(lap_ticks(car, 0.0, (0.0, 10.0))) == [(0.2, 1), (0.5, 2), (0.8, 3)]
    assert list(lap_ticks(car, 2.0, (-1.0, 4.0))) == [(0.2, 1), (0.8, 2)]
    assert not list(lap_ticks(car, 0.0, (0.0, 0.0)))
