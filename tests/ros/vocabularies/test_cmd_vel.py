"""A twist under a real rclpy: it drives, odometry comes back, and its silence stops the car."""

from __future__ import annotations

import json

import pytest

from tests.ros.real_ros import NEEDS_ROS

pytestmark = NEEDS_ROS

TOPICS = {"odom": "nav_msgs/msg/Odometry", "/tf": "tf2_msgs/msg/TFMessage"}


def is_at(speed_mps: float):
    return lambda row: abs(row.get("speed_mps", 0.0) - speed_mps) < 0.1 * speed_mps


@pytest.mark.ros
@pytest.mark.parametrize("stamped", ["", "_stamped"])
def test_a_twist_is_heard_and_odometry_said_of_a_car_that_stands(nodes, started, stamped):
    ros = started("sim://f1tenth", "--as", f"cmd_vel{stamped}", "--unarmed")
    nodes("twister", "cmd_vel", "0.0", "1.0", "40", *filter(None, [stamped]))
    ros.until(lambda row: "turn on the spot" in row.get("program", ""))
    heard = json.loads(
        nodes(
            "listener", "3.0", *(f"{name}={kind}" for name, kind in TOPICS.items())
        ).stdout.readline()
    )
    odom, tf = heard["odom"]["message"], heard["/tf"]["message"]["transforms"][0]
    assert (odom["header"]["frame_id"], odom["child_frame_id"]) == ("odom", "base_link")
    assert (tf["header"]["frame_id"], tf["child_frame_id"]) == ("odom", "base_link")
    assert odom["twist"]["twist"]["linear"]["x"] == 0.0


@pytest.mark.ros(drives=True)
@pytest.mark.xdist_group("wall clock")
@pytest.mark.parametrize("stamped", ["", "_stamped"])
def test_a_twist_drives_and_its_silence_stops(nodes, started, stamped):
    ros = started("sim://f1tenth", "--as", f"cmd_vel{stamped}")
    talker = nodes("twister", "cmd_vel", "0.8", "0.4", "40", *filter(None, [stamped]))
    heard = ros.hears_while_driving(is_at(0.8), nodes, 1.0, TOPICS)
    odom = heard["odom"]["message"]
    assert odom["twist"]["twist"]["linear"]["x"] == pytest.approx(0.8, abs=0.15)
    assert odom["twist"]["twist"]["angular"]["z"] == pytest.approx(0.4, abs=0.1)
    talker.kill()
    row = ros.until(lambda row: row.get("state") == "STOPPED")
    assert "fell silent" in str(row)
