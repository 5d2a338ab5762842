"""The geometry of a path: beside it, ahead on it, closed or not."""

from math import pi

import numpy as np
import pytest

from host_bridge.inputs.paths.path import Path, ends_meet, parse_pose, resampled
from host_bridge.mapping.poses.report import frame_transform


def circle(radius_m=2.0, count=200, turn_rad=2 * pi):
    angles = np.linspace(0.0, turn_rad, count, endpoint=False)
    return radius_m * np.stack((np.sin(angles), 1.0 - np.cos(angles)), axis=1)


def test_a_point_beside_a_line_is_so_far_along_and_so_far_to_the_left():
    projection = Path([[0, 0], [3, 0], [3, 4]]).project(1.0, 0.25)
    assert (projection.along_m, projection.left_m, projection.yaw_rad) == (1.0, 0.25, 0.0)
    projection = Path([[0, 0], [3, 0], [3, 4]]).project(3.5, 2.0)
    assert (projection.along_m, projection.left_m, projection.yaw_rad) == (5.0, -0.5, pi / 2)


def test_behind_an_end_it_goes_on_straight_and_is_not_beside_the_path():
    line = Path([[0, 0], [3, 0]])
    behind, before = line.project(3.5, 0.1), line.project(-0.5, -0.1)
    assert (behind.along_m, behind.left_m) == (3.5, pytest.approx(0.1))
    assert (before.along_m, before.left_m) == (-0.5, pytest.approx(-0.1))
    assert behind.apart_m == pytest.approx(np.hypot(0.5, 0.1))
    assert line.at(4.0) == (4.0, 0.0)


def test_a_loop_goes_on_at_its_beginning():
    loop = Path(circle())
    assert loop.is_loop
    assert loop.length_m == pytest.approx(4 * pi, rel=1e-3)
    assert loop.at(loop.length_m + 0.1) == pytest.approx(loop.at(0.1))
    assert loop.curvatures(np.array([1.0]), 0.3) == pytest.approx([0.5], rel=0.05)
    assert loop.project(0.0, 0.1).left_m == pytest.approx(0.1, abs=0.01)


def test_where_it_crosses_itself_it_is_not_taken_for_its_other_branch():
    angles = np.linspace(0.0, 2 * pi, 400, endpoint=False)
    eight = Path(np.stack((3 * np.sin(angles), 3 * np.sin(2 * angles) / 2), axis=1), is_loop=True)
    half_m = 0.5 * eight.length_m
    for along_m in (0.05, half_m + 0.05, eight.length_m - 0.05):
        x, y = eight.at(along_m)
        assert eight.project(x, y, along_m - 0.1).along_m == pytest.approx(along_m, abs=0.02)


@pytest.mark.parametrize(
    ("points", "is_loop"),
    [
        (circle(), True),
        (circle(turn_rad=1.9 * pi), False),  # 0.63 m are missing
        (circle(radius_m=0.3, turn_rad=1.8 * pi), False),  # 0.19 m of 1.7: more than a tenth
        ([[0, 0], [5, 0], [5, 0.2], [0.0, 0.2]], False),  # there and back: seen the other way
        ([[0, 0], [1, 0]], False),
    ],
)
def test_the_loop_rule(points, is_loop):
    assert ends_meet(np.array(points, dtype=float)) is is_loop
    assert Path(points).is_loop is is_loop


def test_what_is_no_path_is_refused_and_repeats_are_left_out():
    with pytest.raises(ValueError, match="two different points"):
        Path([[1, 1], [1, 1]])
    assert Path([[0, 0], [0, 0], [1, 0]], np.array([1.0, 1.0, 2.0])).speeds_mps.tolist() == [1, 2]


def test_even_spacing_keeps_the_line():
    points = resampled(np.array([[0.0, 0], [1, 0], [1, 2]]), 0.25, is_loop=False)
    assert np.hypot(*np.diff(points, axis=0).T) == pytest.approx([0.25] * 12)
    assert points[-1].tolist() == [1, 2]


def test_a_pose_is_three_numbers():
    assert parse_pose("1,-2,180") == (1.0, -2.0, pytest.approx(pi))


@pytest.mark.parametrize("text", ["1,2", "1,2,north", "nan,0,0", "0,0,inf"])
def test_what_is_no_pose_is_refused(text):
    with pytest.raises(ValueError, match=r"values|is not a number"):
        parse_pose(text)


def test_what_begins_at_one_pose_goes_on_from_another():
    move = frame_transform((1.0, 0.0, 0.0), (0.0, 5.0, pi / 2))
    assert move((1.0, 0.0, 0.0)) == (0.0, 5.0, pi / 2)
    assert move((3.0, 1.0, 0.5)) == pytest.approx((-1.0, 7.0, pi / 2 + 0.5))
