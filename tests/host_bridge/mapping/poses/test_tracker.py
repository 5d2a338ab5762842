"""A car's pose by a source: dead reckoning goes on from it, and what is not believed stops it."""

from dataclasses import replace
from math import pi

import pytest

from host_bridge.mapping.poses.lines import localiser_lines
from host_bridge.mapping.poses.report import PoseReport
from host_bridge.mapping.poses.tracker import STALE_S, PoseTracker
from tests.host_bridge.inputs.paths.test_follower import MOTION, VEHICLE
from tests.host_bridge.mapping.poses.made_poses import WRAP_US, Localiser

BEHIND_M = VEHICLE.turns_behind_centre_m


class Correction:
    """A tracker that is asked as a follower asks it."""

    def __init__(self, source):
        self.tracker = PoseTracker(source, BEHIND_M)
        self.begin_anew = self.tracker.begin_anew

    def frame(self, reckoned, captured_us, now_us=0):
        x_m, y_m, yaw_rad = reckoned
        motion = replace(MOTION, captured_us=captured_us, x_m=x_m, y_m=y_m, yaw_rad=yaw_rad)
        why = self.tracker.step(now_us, motion)
        return self.tracker.frame, why


@pytest.fixture
def localiser(tmp_path):
    return Localiser(tmp_path / "poses")


@pytest.fixture
def correction(localiser):
    made = Correction(localiser_lines(str(localiser.path)))
    yield made
    made.tracker.close()


def test_dead_reckoning_goes_on_from_the_last_pose(localiser, correction):
    assert correction.frame((9.0, 9.0, 0.0), 0) == (None, "")
    localiser.says(0, 1.0 + BEHIND_M, 2.0, odometry=(5.0, 5.0, pi / 2))
    frame, why = correction.frame((5.0, 6.0, pi / 2), 40_000)  # a metre ahead of where it was
    assert why == ""
    assert frame((5.0, 6.0, pi / 2)) == pytest.approx((2.0, 2.0, 0.0))


def test_a_pose_that_freezes_or_lags_stops_the_car_within_half_a_second(localiser, correction):
    localiser.says(1_000_000, 1.0)
    here = (0.0, 0.0, 0.0)
    assert correction.frame(here, 1_000_000)[1] == ""
    assert correction.frame(here, 1_000_000 + round(STALE_S * 1e6))[1] == ""
    assert "0.51 s old" in correction.frame(here, 1_510_000)[1]
    localiser.says(1_000_100, 1.0)  # it goes on, and stays behind
    assert "old" in correction.frame(here, 1_520_000)[1]
    localiser.says(1_500_000, 1.0)
    assert correction.frame(here, 1_520_000)[1] == ""


def test_its_age_is_told_over_the_wrap_of_the_cars_clock(localiser, correction):
    localiser.says(WRAP_US - 100_000, 1.0)
    assert correction.frame((0.0, 0.0, 0.0), 100_000)[1] == ""
    assert "old" in correction.frame((0.0, 0.0, 0.0), 500_000)[1]


@pytest.mark.parametrize(("x_m", "yaw_rad"), [(1.3, 0.0), (0.7, 0.0), (1.0, 0.25), (1.0, -3.0)])
def test_a_pose_that_jumps_stops_the_car(localiser, correction, x_m, yaw_rad):
    localiser.says(1_000_000, 1.0)
    localiser.says(1_050_000, 1.02)
    assert correction.frame((0.0, 0.0, 0.0), 1_050_000)[1] == ""
    localiser.says(1_100_000, x_m, yaw_rad=yaw_rad)
    assert "jumped" in correction.frame((0.0, 0.0, 0.0), 1_100_000)[1]


def test_a_turn_over_pi_is_no_jump(localiser, correction):
    localiser.says(0, 1.0, yaw_rad=3.14)
    localiser.says(50_000, 1.0, yaw_rad=-3.14)
    assert correction.frame((0.0, 0.0, 0.0), 50_000)[1] == ""


@pytest.mark.parametrize(("said", "words"), [({"is_lost": True}, "has lost the car"),
                                             ({"std_m": 0.3}, "is unsure by 0.30 m")])  # fmt: skip
def test_a_localiser_that_is_lost_stops_a_car_and_may_look_for_one_that_stands(
    localiser, correction, said, words
):
    localiser.says(1_000_000, 1.0, **said)
    assert correction.frame((0.0, 0.0, 0.0), 1_000_000) == (None, ""), "it looks for the car"
    localiser.says(1_050_000, 1.0)
    assert correction.frame((0.0, 0.0, 0.0), 1_050_000)[1] == ""
    localiser.says(1_100_000, 1.0, **said)
    assert words in correction.frame((0.0, 0.0, 0.0), 1_100_000)[1]
    correction.begin_anew()
    assert correction.frame((0.0, 0.0, 0.0), 1_150_000) == (None, "")


@pytest.mark.parametrize(
    "text",
    ['{"sensor": "pose"}', '{"sensor": "pose", "taken_s": 1', '{"sensor": "pose", "taken_s": NaN, '
     '"x_m": 1, "y_m": 1, "yaw_rad": 0, "std_m": 0, "is_lost": false, "odometry": [0, 0, 0]}',
     '{"sensor": "pose", "taken_s": 1, "x_m": 1, "y_m": 1, "yaw_rad": 0, "std_m": 0, '
     '"odometry": [0, 0]}'],
)  # fmt: skip
def test_a_pose_that_cannot_be_read_stops_the_car(localiser, correction, text):
    localiser.writes(text + "\n")
    assert "cannot be read" in correction.frame((0.0, 0.0, 0.0), 1_000_000)[1]


def test_other_lines_are_no_poses_and_half_a_line_waits_for_its_end(localiser, correction):
    localiser.writes('{"sensor": "imu"}\nlocalising\n{"sensor": "pose", "tak')
    assert correction.frame((0.0, 0.0, 0.0), 0) == (None, "")


def test_no_word_on_being_lost_is_taken_for_lost(localiser, correction):
    localiser.says(0, 1.0, is_lost=None)
    assert correction.frame((0.0, 0.0, 0.0), 0) == (None, "")


class Said:
    """A source that says what the test wants."""

    title = "motion capture"

    def __init__(self):
        self.waiting = []

    def take(self, now_us, motion):
        said, self.waiting = self.waiting, []
        return said

    def close(self):
        pass


def report(taken_us, x_m=0.0, **changes):
    return replace(PoseReport(taken_us, (x_m, 0.0, 0.0), 0.0, "map", is_centre=False), **changes)


def driven(source, correction, true_x_m, until_us=3_000_000, speed_mps=2.0):
    """Drive straight ahead, a pose each 50 ms; return why it was stopped, and after how many m."""
    for now_us in range(0, until_us, 10_000):
        x_m = speed_mps * now_us * 1e-6
        if now_us % 50_000 == 0:
            source.waiting.append(report(now_us, true_x_m(x_m)))
        why = correction.frame((x_m, 0.0, 0.0), now_us)[1]
        if why:
            return why, x_m
    return "", x_m


@pytest.mark.parametrize(
    ("true_x_m", "words"),
    [
        (lambda x_m: x_m, ""),
        (lambda x_m: 0.9 * x_m, ""),  # wheels that slip by a tenth
        (lambda x_m: 1.1 * x_m, ""),
        (lambda x_m: min(x_m, 3.0), "moved apart"),  # it froze, under new times
        (lambda x_m: x_m + 0.3 * max(x_m - 3.0, 0.0), "moved apart"),  # it runs away
    ],
)
def test_a_pose_that_leaves_the_odometry_stops_the_car(true_x_m, words):
    source = Said()
    why, _ = driven(source, Correction(source), true_x_m)
    assert (words in why) if words else why == ""


def test_a_pose_that_stands_still_under_new_times_is_seen_within_the_stated_way():
    source = Said()
    why, x_m = driven(source, Correction(source), lambda x_m: min(x_m, 3.0))
    assert "Pose and odometry moved apart" in why
    stated_m = 0.25 + 0.15 * 2.0  # of the 2 m in a second
    assert 3.0 + stated_m <= x_m + 1e-9 < 3.0 + stated_m + 0.15, "and the way between two poses"


def test_a_pose_without_odometry_is_placed_by_its_time():
    source = Said()
    correction = Correction(source)
    correction.frame((0.0, 0.0, 0.0), 0)
    source.waiting.append(report(30_000, 5.0))
    newer = correction.frame((0.02, 0.0, 0.0), 20_000)
    assert newer == (None, ""), "it is newer than all odometry, and waits"
    frame, _ = correction.frame((0.04, 0.0, 0.0), 40_000)
    assert frame((0.03, 0.0, 0.0)) == pytest.approx((5.0, 0.0, 0.0))


def test_a_pose_in_the_hosts_time_is_placed_by_the_least_delayed_report():
    source = Said()
    correction = Correction(source)
    for captured_us, late_us in ((0, 9_000), (20_000, 4_000), (40_000, 30_000)):
        correction.frame(
            (captured_us * 1e-6, 0.0, 0.0), captured_us, 7_000_000 + captured_us + late_us
        )
    source.waiting.append(report(7_000_000 + 4_000 + 30_000, 5.0, is_host_time=True))
    frame, _ = correction.frame((0.06, 0.0, 0.0), 60_000, 7_070_000)
    assert frame((0.03, 0.0, 0.0)) == pytest.approx((5.0, 0.0, 0.0))


def test_another_frame_stops_the_car():
    source = Said()
    correction = Correction(source)
    correction.frame((0.0, 0.0, 0.0), 0)
    source.waiting += [report(0), report(10_000, frame="odom")]
    assert "frame was map, now it is odom" in correction.frame((0.0, 0.0, 0.0), 10_000)[1]


def test_what_came_is_told_in_figures():
    source = Said()
    correction = Correction(source)
    driven(source, correction, lambda x_m: 0.95 * x_m, 500_000)
    figures = correction.tracker.figures()
    assert figures["source"] == "motion capture"
    assert (figures["frame"], figures["std_m"], figures["poses"]) == ("map", 0.0, 10)
    assert figures["oldest_s"] == pytest.approx(0.04)
    assert 0.003 < figures["corrected_worst_m"] < 0.006
