"""A follower with a pose source: it drives by its poses, and stops for one not to be believed."""

import pytest

from host_bridge.core.errors import DeviceFault, UsageFault
from host_bridge.inputs.paths import Path
from host_bridge.inputs.paths.path_options import parse_options
from tests.host_bridge.inputs.paths.test_follower import Scene, following
from tests.host_bridge.mapping.poses.made_poses import Localiser


@pytest.fixture
def localiser(tmp_path):
    return Localiser(tmp_path / "poses")


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
