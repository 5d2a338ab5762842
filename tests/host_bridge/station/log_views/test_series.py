"""The numbers of a log: exact, aligned at a common moment, thinned without losing a peak."""

from __future__ import annotations

import math

import pytest

from host_bridge.station.log_views.series import (
    FIRST_MOTION,
    NumberSeries,
    behind,
    path_from,
    read_run,
    thinned,
)
from tests.host_bridge.station.log_views.made_logs import made_log


def silent(part: float) -> None:
    pass


def test_every_report_is_there_with_its_time_and_in_the_pages_units(tmp_path):
    told = []
    run = read_run(made_log(tmp_path / "a.mcap", 1.5), 4.0, told.append)
    red = run.cars["red"]
    assert len(red.series("speed_mps").times_s) == 400
    assert red.series("speed_mps").at(1.995) == 1.5
    assert red.series("speed_mps").at(-1.0) is None
    assert red.series("steer_deg").at(2.0) == pytest.approx(math.degrees(0.1))
    assert red.series("battery_v").at(3.0) == 11.5
    assert red.pose(2.0) == (pytest.approx(1.5, abs=0.05), 1.0, 0.0)
    assert [red.state(at_s) for at_s in (0.5, 2.0, 3.5)] == ["STOPPED", "ACTIVE", "STOPPED"]
    assert run.length_s == pytest.approx(3.99, abs=0.01)
    assert told[0] == 0.0


def test_a_number_that_a_car_did_not_report_is_no_number(tmp_path):
    run = read_run(made_log(tmp_path / "a.mcap", 1.0), 4.0, silent)
    assert run.cars["red"].series("temperature_c").at(2.0) is None
    assert list(thinned(run.cars["red"].series("temperature_c"), 0.0, 4.0)) == []


def test_marks_are_moments_and_other_notes_are_none(tmp_path):
    marks = ((0.5, "start"), (2.5, "a curb: left"))
    run = read_run(made_log(tmp_path / "a.mcap", 1.0, marks=marks), 4.0, silent)
    assert [words for _, words in run.marks] == ["start", "a curb: left"]
    assert run.moment_s("a curb: left") == pytest.approx(2.5)
    assert run.moment_s(FIRST_MOTION) == pytest.approx(1.0)
    assert run.moment_s("of another log") == 0.0


def test_thinned_keeps_the_peak_of_a_single_report_and_up_to_ten_seconds_are_exact():
    series = NumberSeries()
    for n in range(60_000):  # ten minutes
        series.add(n * 0.01, 9.0 if n == 31_415 else -9.0 if n == 31_417 else math.sin(n * 1e-3))
    points = list(thinned(series, 0.0, 600.0))
    assert len(points) <= 800
    assert {9.0, -9.0} <= {value for _, value in points}
    assert points == sorted(points, key=lambda it: it[0])
    exact = list(thinned(series, 310.0, 320.0))
    assert len(exact) >= 1000
    assert exact[0][0] <= 310.0 <= 320.0 <= exact[-1][0], "the lines go on to the edges"


def test_a_time_that_runs_back_is_left_out():
    series = NumberSeries()
    for at_s in (0.0, 1.0, 0.5, 2.0):
        series.add(at_s, at_s)
    assert list(series.times_s) == [0.0, 1.0, 2.0]


def test_a_way_is_seen_from_where_the_car_stood(tmp_path):
    run = read_run(made_log(tmp_path / "a.mcap", 2.0), 4.0, silent)
    path = path_from(run.cars["red"], run.moment_s(FIRST_MOTION), 99.0)
    assert path[0] == pytest.approx([0.0, 0.0], abs=0.05)
    assert path[-1] == pytest.approx([4.0, 0.0], abs=0.05)


def test_the_slower_one_is_later_at_the_same_distance(tmp_path):
    fast = read_run(made_log(tmp_path / "a.mcap", 2.0), 4.0, silent)
    slow = read_run(made_log(tmp_path / "b.mcap", 1.0, stands_s=2.0, drives_s=4.0), 8.0, silent)
    later = behind(fast.cars["red"], fast.moment_s(FIRST_MOTION),
                   slow.cars["red"], slow.moment_s(FIRST_MOTION))  # fmt: skip
    assert later.at(2.0) == pytest.approx(1.0, abs=0.05)  # 2 m: after 1 s, and after 2 s
    assert later.at(4.0) == pytest.approx(2.0, abs=0.05)
    assert later.times_s[-1] <= 4.05, "while it stands it reaches nothing"
    nothing = behind(fast.cars["red"], 0.0, type(slow.cars["red"])(), 0.0)
    assert list(nothing.times_s) == []
