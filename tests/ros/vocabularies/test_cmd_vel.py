"""A twist under a real rclpy: it drives, odometry comes back, and its silence stops the car."""

from __future__ import annotations

import pytest

from tests.ros.real_ros import IN_REAL_TIME

pytestmark = IN_REAL_TIME

TOPICS = {"odom": "nav_msgs/msg/Odometry", "/tf": "tf2_msgs/msg/TFMessage"}


def is_at(speed_mps: float):
    return lambda row: abs(row.get("speed_mps", 0.0) - speed_mps) < 0.1 * speed_mps


@pytest.mark.parametrize("stamped", ["", "_stamped"])
def test_a_twist_drives_and_its_silence_stops(nodes, started, stamped):
    ros = started("sim://f1tenth", "--as", f"cmd_vel{stamped}")
    talker = nodes("twister", "cmd_vel", "0.8", "0.4", "40", *filter(None, [stamped]))
    heard = ros.hears_while_driving(is_at(0.8), nodes, 1.0, TOPICS)
    odom, tf = heard["odom"]["message"], heard["/tf"]["message"]["transforms"][0]
    assert (odom["header"]["frame_id"], odom["child_frame_id"]) == ("odom", "base_link")
    assert (tf["header"]["frame_id"], tf["child_frame_id"]) == ("odom", "base_link")
    assert odom["twist"]["twist"]["linear"]["x"] == pytest.approx(0.8, abs=0.15)
    assert odom["twist"]["twist"]["angular"]["z"] == pytest.approx(0.4, abs=0.1)
    talker.kill()
    row = ros.until(lambda row: row.get("state") == "STOPPED")
    assert "fell silent" in str(row)
