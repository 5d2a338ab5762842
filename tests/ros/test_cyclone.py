"""Another DDS as the far end: Cyclone's own Python, without rclpy, drives a car and hears of it."""

from __future__ import annotations

import json
import queue
import threading

import pytest

from tests.ros.node.test_ros import is_fast, is_stopped
from tests.ros.real_ros import IN_REAL_TIME

ERPM_PER_MPS = 4614.0  # vesc.yaml

pytestmark = IN_REAL_TIME


def test_it_drives_by_another_dds_tells_it_what_the_car_does_and_stops_for_its_silence(
    nodes, started
):
    ros = started("sim://f1tenth?track=corridor")
    far = nodes("drivers/cyclone", "1.0", "0.1", "50")
    said: queue.SimpleQueue[str] = queue.SimpleQueue()
    threading.Thread(target=lambda: [said.put(it) for it in far.stdout], daemon=True).start()
    row = ros.until_it_drives(is_fast, nodes)
    assert row["commanded_by"] == "ros2"
    assert row["steer_rad"] == pytest.approx(0.1, abs=0.01)
    for _ in range(20):  # a busy machine may have stopped it meanwhile
        told = json.loads(said.get(timeout=60))
        if told["erpm"] < -0.7 * ERPM_PER_MPS:  # forward is negative there
            break
        ros.until_it_drives(is_fast, nodes)
    assert told["erpm"] == pytest.approx(-1.0 * ERPM_PER_MPS, rel=0.3)
    assert told["counts"] < 0
    assert told["battery_v"] > 6.0
    assert min(told["heard"].values()) > 10
    assert told["frames"] == ["odom", "base_link", "laser"]
    assert told["odom_mps"] == pytest.approx(1.0, abs=0.3)
    assert len(told["covariance"]) == 36
    assert 0 < told["covariance"][0] < 1
    assert len(told["ranges_m"]) == 1081
    assert max(told["ranges_m"]) > 0.5
    assert -0.1 < told["age_s"] < 1.0
    far.kill()
    assert "ROS 2 fell silent" in ros.until(is_stopped)["why_stopped"]
