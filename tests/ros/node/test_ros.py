"""``tandem ros`` under a real rclpy: it drives, and stops for whoever falls silent or says stop."""

from __future__ import annotations

import signal
import time
from bisect import bisect_left

import pytest

from host_bridge.config.vehicle.schema import SOURCE_IDS
from host_bridge.logs.reading import read
from host_bridge.ros2.node.stops import STOP_QUEUE_DEPTH
from tests.ros.real_ros import IN_REAL_TIME
from tests.support import patience

pytestmark = IN_REAL_TIME
SOME_S = 3.0


def is_fast(row: dict) -> bool:
    return row.get("speed_mps", 0.0) > 0.7


def is_stopped(row: dict) -> bool:
    return row.get("state") == "STOPPED"


@pytest.mark.parametrize("how", [(), ("best_effort",), ("unstamped",)])
def test_it_drives_by_drive(nodes, ros, how):
    nodes("talker", "drive", "1.0", "0.1", "40", *how)
    row = ros.until(is_fast)
    assert row["commanded_by"] == "ros2"
    assert row["steer_rad"] == pytest.approx(0.1, abs=0.01)


@pytest.mark.parametrize(("hz", "least", "greatest"), [(30, 105, 135), (1000, 150, 202)])
def test_commands_wake_it_and_a_flood_makes_200_claims_a_second_at_most(
    nodes, started, tmp_path, hz, least, greatest
):
    """They are counted where they come to the car, while it drives."""
    log = tmp_path / "drive.mcap"
    ros = started("sim://f1tenth", "--record", str(log))
    nodes("talker", "drive", "1.0", "0.0", str(hz), "found")
    ros.until_it_drives(is_fast, nodes)
    time.sleep(SOME_S)
    ros.process.terminate()
    patience.wait(ros.process, 60)
    at_us = [
        it.time_us
        for it in read(log)
        if it.topic == "claim" and it.value["source_id"] == SOURCE_IDS["ros2"]
    ]
    most = max(bisect_left(at_us, it + 1_000_000) - i for i, it in enumerate(at_us))
    assert least <= most <= greatest


def test_topics_have_the_names_that_they_are_given(nodes, started):
    words = ("--ns", "/car1", "--remap", "drive:=/planner/drive", "--remap", "odom:=seen")
    ros = started("sim://f1tenth", *words)
    nodes("talker", "/planner/drive", "1.0", "0.0", "40")
    heard = ros.hears_while_driving(
        is_fast, nodes, 1.0, {"/car1/seen": "nav_msgs/msg/Odometry"}, "/car1"
    )
    assert heard["/car1/seen"]["count"] > 10


@pytest.mark.parametrize("rule", ["drive", "__node:=x", "a b:=c", "drive:=", "drive:=/x/../y"])
def test_what_gives_no_topic_another_name_is_refused(started, rule):
    ros = started("sim://f1tenth", "--remap", rule)
    assert patience.wait(ros.process, 60) == 2


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSTOP])
def test_a_killed_and_a_paused_publisher_stop_the_car(nodes, ros, number):
    talker = nodes("talker", "drive", "1.0", "0.0", "40")
    ros.until(is_fast)
    talker.send_signal(number)
    row = ros.until(is_stopped)
    assert "ROS 2 fell silent" in row["why_stopped"]


def test_teleops_silence_does_not_let_drive_through(nodes, ros):
    nodes("talker", "drive", "1.0", "0.0", "40")
    teleop = nodes("talker", "teleop", "1.0", "0.2", "40")
    ros.until(lambda row: is_fast(row) and row.get("steer_rad", 0) > 0.15)
    teleop.kill()
    row = ros.until(is_stopped)
    assert row["program"].startswith("ROS 2: teleop fell silent")


@pytest.mark.parametrize("how", ["old", "future"])
def test_commands_of_another_time_move_nothing(nodes, ros, how):
    nodes("talker", "drive", "1.0", "0.0", "40", how)
    refused = ros.until(lambda row: "was refused" in row.get("program", ""))
    driving = ros.until(lambda row: row.get("phase") == "driving")
    assert {row["speed_mps"] for row in (refused, driving)} == {0.0}


def test_one_latched_command_moves_nothing(nodes, ros):
    nodes("talker", "drive", "1.0", "0.0", "40", "latched", "once")
    rows = [ros.until(lambda row: row.get("phase") == "driving") for _ in range(15)]
    assert {row["speed_mps"] for row in rows} == {0.0}


@pytest.mark.smoke
def test_anybody_stops_it_and_a_virtual_car_is_armed_again(nodes, ros):
    nodes("talker", "drive", "1.0", "0.0", "1000")
    ros.until(is_fast)
    begun_s = time.monotonic()
    caller = nodes("service_caller", "/tandem/stop")
    assert caller.stdout is not None
    assert caller.stdout.readline().startswith("True")
    row = ros.until(is_stopped)
    assert "SEAT" in row["why_stopped"].upper() or "stop" in row["why_stopped"]
    patience.took(begun_s, 20, "a stop by a service", 2.0)
    armed = nodes("service_caller", "/tandem/arm")
    assert armed.stdout is not None
    assert armed.stdout.readline().startswith("True")
    ros.until(is_fast)


@pytest.mark.parametrize("calls", [0, 1, 3])
def test_a_call_that_waits_for_its_answer_keeps_nobody_from_being_heard(nodes, calls):
    heard, words = nodes("unanswered_calls", str(calls)).stdout.readline().split(" ", 1)
    assert int(heard) >= 90
    assert words.count("at last") == calls


@pytest.mark.parametrize(("depth", "heard"), [(1, "True"), (STOP_QUEUE_DEPTH, "False True")])
def test_a_queue_of_several_words_keeps_a_stop_that_another_word_follows(nodes, depth, heard):
    """Of a queue of one the newest stays, whoever said it: which is why runstops have more."""
    assert nodes("queued_runstops", str(depth)).stdout.readline().strip() == heard
