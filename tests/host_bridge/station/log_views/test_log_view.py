"""What is shown of one or two logs: their common time and marks, and all of it as CSV."""

from __future__ import annotations

import pytest

pytest.importorskip("nicegui", reason="the station's plots need tandem-cars[station]")

from host_bridge.station.log_views.plots import LogView
from host_bridge.station.log_views.series import BEGINNING, FIRST_MOTION, read_run
from host_bridge.station.views.signals import SIGNALS
from tests.host_bridge.station.log_views.made_logs import made_log


@pytest.fixture
def view(tmp_path):
    runs = {
        "A": made_log(tmp_path / "a.mcap", 2.0, cars=("red", "twin"), marks=((2.0, "curb"),)),
        "B": made_log(tmp_path / "b.mcap", 1.0, stands_s=2.0, marks=((0.0, "x"), (3.0, "curb"))),
    }
    return LogView({it: read_run(path, 4.0, lambda part: None) for it, path in runs.items()})


def test_two_logs_lie_over_one_another_at_their_common_moment(view):
    assert view.extent() == (-2.0, pytest.approx(3.99, abs=0.01))
    assert [view.time_in(it, 0.5) for it in ("A", "B")] == [1.5, 2.5]
    view.align = BEGINNING
    assert view.extent() == (0.0, pytest.approx(5.99, abs=0.01))
    view.align = "curb"
    assert [view.time_in(it, 0.0) for it in ("A", "B")] == [2.0, 3.0]


def test_only_a_mark_that_both_have_lays_them_together(view):
    assert view.common_marks() == ["curb"]
    assert dict(view.marks()) == {1.0: "B: curb", -2.0: "B: x"}  # A's lies at the same time
    del view.runs["A"]
    assert view.common_marks() == ["x", "curb"]
    assert [words for _, words in view.marks()] == ["x", "curb"]
    assert LogView().common_marks() == []
    assert LogView().extent() == (0.0, 0.0)


def test_each_car_has_a_colour_of_its_own(view):
    called = [(letter, name, colour) for letter, name, _, colour in view.cars()]
    assert [name for _, name, _ in called] == ["A red", "A twin", "B red"]
    assert len({colour for *_, colour in called}) == 3


def test_the_csv_has_every_report_of_the_span_and_of_the_chosen_signals(view):
    view.chosen = ("battery_v",)
    head, *rows = view.csv_rows((0.0, 1.0))
    assert head == ("line", "signal", "unit", "t_s", "value")
    speeds = [row for row in rows if row[:2] == ("A red", "speed")]
    assert len(speeds) == 101
    assert speeds[0][2:] == ("m/s", 0.0, 2.0)
    assert {row[1] for row in rows} == {"speed", "steering, to the left"}
    all_of_it = list(view.csv_rows(view.extent()))
    assert ("B red", "battery", "V", -2.0, 11.5) in all_of_it


def test_a_log_offers_no_signal_that_only_live_cars_have():
    known = {it.key for it in SIGNALS if LogView.knows(it.key)}
    assert {"battery_v", "yaw_rate_dps"} <= known
    assert not known & {"age_ms", "loss_percent", "round_trip_ms", "speed_mps"}
    assert LogView().align == FIRST_MOTION
