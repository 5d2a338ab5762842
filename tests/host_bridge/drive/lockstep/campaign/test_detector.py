"""The driver that brakes for what its detector sees: range, misses, rate, latency, cases."""

from __future__ import annotations

import pytest

from host_bridge.core import Observed
from host_bridge.drive.lockstep.campaign.case import run_case
from host_bridge.drive.lockstep.campaign.detector import BrakeForObstacle, Detector
from host_bridge.drive.lockstep.campaign.plan import read_plan
from host_bridge.sharing.services import make_host
from tests.support.evidence import every

TICK_US = 10_000
DRIVING = Observed(cars=(), is_driving=True, is_permitted=True)
CASE = """\
[campaign]
title = "Obstacle"
[case]
vehicle = "f1tenth"
controller = "brake:obstacle"
duration_s = 4.0
speed_mps = 2.0
obstacle_m = 4.0
detector_range_m = RANGE
[oracles]
no_obstacle_hit = true
"""


def drive(detector, distance_of, seed=1, seconds=10.0):
    """When it brakes, in s; None if it never does. ``distance_of`` is of the time in s."""
    now_s = 0.0
    driver = BrakeForObstacle(detector, lambda: distance_of(now_s), seed)
    driver._speed_mps = 2.0
    for tick in range(round(seconds * 1e6 / TICK_US)):
        now_s = tick * TICK_US * 1e-6
        command = driver.step(5_000_000 + tick * TICK_US, DRIVING)
        if command.brake:
            assert command.speed_mps == 0.0
            return now_s
        assert command.speed_mps == 2.0
        assert command.is_held
    return None


def approaching(now_s):
    return 20.0 - 2.0 * now_s


def test_it_brakes_where_its_range_begins_and_its_answer_is_there():
    sharp = Detector(10.0, 0.0, 10.0, 0.0)
    assert drive(sharp, approaching) == pytest.approx(5.0, abs=0.011)
    assert drive(Detector(10.0, 0.0, 10.0, 0.3), approaching) == pytest.approx(5.3, abs=0.011)
    assert drive(Detector(10.0, 0.0, 0.7, 0.0), approaching) == pytest.approx(4 / 0.7, abs=0.011)
    assert drive(Detector(0.0, 0.0, 10.0, 0.0), approaching, seconds=9.9) is None


def test_looks_are_missed_as_often_as_it_says_and_equally_for_a_seed():
    blind = Detector(1e3, 0.8, 10.0, 0.0)
    looks = [round(drive(blind, approaching, seed) * 10) for seed in range(300)]
    assert looks == [round(drive(blind, approaching, seed) * 10) for seed in range(300)]
    at_once = sum(look == 0 for look in looks) / len(looks)
    assert at_once == pytest.approx(0.2, abs=0.07)
    assert sum(looks) / len(looks) == pytest.approx(4.0, abs=0.8)  # geometric: 0.8 / 0.2
    assert drive(Detector(1e3, 1.0, 10.0, 0.0), approaching) is None


def test_it_waits_until_it_may_drive():
    driver = BrakeForObstacle(Detector(1e3, 0.0, 10.0, 0.0), lambda: 1.0, 1)
    waiting = Observed(cars=(), is_driving=False, is_permitted=True)
    assert not driver.step(0, waiting).is_held
    assert driver._looks == 0


def rows_of(folder, text):
    (folder / "campaign.toml").write_text(text, encoding="utf-8")
    files = make_host().vehicles
    return [run_case(case.spec, files) for case in read_plan(folder / "campaign.toml").cases()]


@pytest.mark.exhaustive  # whole drives
def test_a_case_fails_if_the_obstacle_is_seen_too_late(tmp_path):
    (seen,) = rows_of(tmp_path, CASE.replace("RANGE", "3.0"))
    assert seen["outcome"] == "passed"
    assert 0.5 < seen["obstacle_left_m"] < 3.0
    (late,) = rows_of(tmp_path, CASE.replace("RANGE", "0.05"))
    assert late["outcome"] == "failed"
    assert late["why"] == "no_obstacle_hit"
    assert late["obstacle_left_m"] < 0.0


@pytest.mark.exhaustive  # whole drives
def test_a_case_without_what_it_takes_is_refused_in_words(tmp_path):
    (nothing,) = rows_of(tmp_path, CASE.replace("RANGE", "3.0").replace("obstacle_m = 4.0\n", ""))
    assert (nothing["outcome"], "obstacle_m = 60.0" in nothing["why"]) == ("refused", True)
    other = CASE.replace("brake:obstacle", "script:slalom").replace("RANGE", "3.0")
    (row,) = rows_of(tmp_path, other.replace("obstacle_m = 4.0\n", ""))
    assert row["oracles"] == {"no_obstacle_hit": None}


@pytest.mark.exhaustive  # whole drives
def test_weather_and_light_shorten_the_range(tmp_path):
    text = CASE.replace("RANGE", "8.0") + "[factors]\ndetector_light = [1.0, 0.25]\n"
    bright, dark = rows_of(tmp_path, text)
    assert every(row["outcome"] == "passed" for row in (bright, dark))
    assert bright["obstacle_left_m"] > dark["obstacle_left_m"] + 1.0
    assert dark["obstacle_left_m"] > 0.0
