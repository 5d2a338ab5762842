"""A follower with a localiser: it drives by its poses, and stops for one not to be believed."""

import json
from math import pi

import pytest

from host_bridge.core.errors import DeviceFault, UsageFault
from host_bridge.inputs.paths import Path
from host_bridge.inputs.paths.path_options import parse_options
from host_bridge.inputs.paths.pose_correction import STALE_S, PoseCorrection
from tests.host_bridge.inputs.paths.test_follower import VEHICLE, Scene, following

WRAP_US = 1 << 30
BEHIND_M = VEHICLE.turns_behind_centre_m


class Localiser:
    """A program that writes poses into a file."""

    def __init__(self, path):
        self.path = path
        path.touch()

    def says(self, taken_us, x_m, y_m=0.0, yaw_rad=0.0, odometry=(0.0, 0.0, 0.0), **changes):
        row = {"sensor": "pose", "taken_s": taken_us * 1e-6, "x_m": x_m, "y_m": y_m,
               "yaw_rad": yaw_rad, "std_m": 0.02, "std_rad": 0.01, "fit": 1.0, "is_lost": False,
               "odometry": odometry, **changes}  # fmt: skip
        self.writes(json.dumps(row) + "\n")

    def writes(self, text):
        with self.path.open("a") as file:
            file.write(text)


@pytest.fixture
def localiser(tmp_path):
    return Localiser(tmp_path / "poses")


@pytest.fixture
def correction(localiser):
    made = PoseCorrection(str(localiser.path), BEHIND_M)
    yield made
    made.close()


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


def test_the_follower_waits_for_a_pose_then_steers_by_it(localiser):
    follower = following(Path([[0, 0], [9, 0]]), pose=str(localiser.path))
    assert not follower.is_computed, "no lockstep with a program beside it"
    scene = Scene(follower)
    for _ in range(60):
        command = scene.at(70.0, 70.0, 1.0, speed_mps=0.0)
    assert command.is_held
    assert command.speed_mps == 0.0
    assert "waits for the first pose" in follower.status_text(scene.now_us)
    localiser.says(scene.now_us, 1.0, 0.2, odometry=(70.0, 70.0, 1.0))
    command = scene.at(70.0, 70.0, 1.0, speed_mps=0.0)
    assert command.speed_mps > 0.3
    assert command.steer_rad < -0.05, "it is to the left of its path"
    command = scene.at(70.0, 70.0, 1.0, for_us=600_000)
    assert "old" in command.lost
    follower.let_go()
    assert scene.at(70.0, 70.0, 1.0).lost == ""


def test_a_file_that_is_not_there_is_told_with_what_makes_it():
    with pytest.raises(DeviceFault, match="poses cannot be read") as told:
        following(pose="/nowhere/poses")
    assert "tandem localise" in told.value.remedy


@pytest.mark.parametrize(
    ("query", "words"),
    [({"pose": ""}, "pose of a path"), ({"pose": "p", "at": "0,0,0"}, "exclude")],
)
def test_what_does_not_fit_is_refused(query, words):
    with pytest.raises(UsageFault, match=words):
        parse_options(query)
