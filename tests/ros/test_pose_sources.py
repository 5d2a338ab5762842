"""Pose sources of ROS 2, against the messages of a real one: topic, transforms, motion capture."""

from __future__ import annotations

import json
from math import pi

import pytest

from tests.ros.real_ros import IN_REAL_TIME, NODES, PYTHON
from tests.support import patience
from tests.support.evidence import every

pytestmark = IN_REAL_TIME


@pytest.fixture(scope="module")
def heard(environment):
    told = patience.run(
        [PYTHON, str(NODES / "drivers" / "pose_talker.py")],
        env=environment,
        text=True,
        check=True,
        within_s=60,
    )
    return json.loads(told.stdout.splitlines()[-1])


def rows_of(heard, text, least):
    rows = heard[text]
    assert len(rows) >= least, f"{text}: {len(rows)} poses"
    assert every(isinstance(it, list) for it in rows), rows[:3]
    return rows


def test_a_topic_has_place_covariance_frame_and_the_age_of_its_stamp(heard):
    rows = rows_of(heard, "ros:/pf/pose/odom", 20)
    assert every(it[:3] == pytest.approx([1.5, 0.0, 0.0]) for it in rows)
    assert every(it[3] == pytest.approx(0.2) for it in rows), "0.02 m^2 along each axis"
    assert every(it[4:6] == ["map", False] for it in rows)
    assert every(0.1 <= it[6] < 0.6 for it in rows)


def test_a_motion_capture_says_no_covariance(heard):
    rows = rows_of(heard, "mocap:car1", 20)
    assert every(it[1] == 2.5 and it[3] is None and it[4] == "world" for it in rows)


def test_transforms_are_composed_and_are_as_old_as_the_slowest_of_them(heard):
    """map > odom turns by 90 degrees; the laser is 1.3 m ahead in odom."""
    rows = rows_of(heard, "tf:map>laser", 5)
    assert len(rows) < 60, "one for each of the localiser's, not of the odometry's"
    assert every(it[:3] == pytest.approx([2.0, 1.3, pi / 2], abs=1e-6) for it in rows)
    assert every(0.1 <= it[6] < 0.6 for it in rows)
