"""AutoRally's chassis under a real rclpy: commanders by priority, runstops, what it reports."""

from __future__ import annotations

import json

import pytest

from tests.ros.real_ros import IN_REAL_TIME

pytestmark = IN_REAL_TIME

TOP_MPS, STEER_MAX_RAD = 10.0, 0.36  # of the vehicle file
CEDED = -5.0  # as AutoRally's OCS leaves an actuator to others
STATE = {"chassisState": "autorally_msgs/msg/ChassisState"}
SPEEDS = {"wheelSpeeds": "autorally_msgs/msg/WheelSpeeds"}


def command(name: str, throttle=CEDED, steering=CEDED, front_brake=CEDED) -> str:
    fields = {"throttle": throttle, "steering": steering, "front_brake": front_brake}
    fields["sender"] = name
    return f"{name}/chassisCommand=autorally_msgs/ChassisCommand={json.dumps(fields)}"


def runstop(is_enabled: bool, sender: str = "OCS") -> str:
    fields = {"sender": sender, "motion_enabled": is_enabled}
    return f"runstop=autorally_msgs/Runstop={json.dumps(fields)}"


def hears(nodes, topics: dict[str, str], seconds: float = 0.5) -> dict[str, dict]:
    listener = nodes("listener", str(seconds), *(f"{name}={kind}" for name, kind in topics.items()))
    return json.loads(listener.stdout.readline())


@pytest.fixture
def chassis(started):
    """``tandem ros`` as AutoRally's nodes see it."""
    ros = started("sim://autorally", "--as", "autorally")
    ros.until(lambda row: row.get("phase") == "driving")
    return ros


def is_at(speed_mps: float):
    return lambda row: abs(row.get("speed_mps", 0.0) - speed_mps) < 0.25 * speed_mps


def is_stopped(row: dict) -> bool:
    return row.get("state") == "STOPPED"


def test_nothing_moves_without_a_runstop_that_enables_it(chassis, nodes):
    nodes("topic_publisher", "50", command("mppi_controller", 0.1, 0.0, 0.0))
    rows = [chassis.until(lambda row: "speed_mps" in row) for _ in range(15)]
    assert {row["speed_mps"] for row in rows} == {0.0}
    assert rows[-1]["program"] == "ROS 2: No runstop was heard."
    state = hears(nodes, STATE)["chassisState"]["message"]
    assert state["runstop_motion_enabled"] is False


def test_it_drives_and_says_who_commands_each_actuator(chassis, nodes):
    nodes("topic_publisher", "20", runstop(True))
    nodes("topic_publisher", "50", command("mppi_controller", steering=-0.5))
    nodes("topic_publisher", "50", command("joystick", 0.1, 0.9, 0.0))
    row = chassis.until_it_drives(is_at(0.1 * TOP_MPS), nodes)
    assert row["steer_rad"] == pytest.approx(0.5 * STEER_MAX_RAD, abs=0.02)  # -1 is left
    heard = chassis.hears_while_driving(is_at(0.1 * TOP_MPS), nodes, 0.5, {**STATE, **SPEEDS})
    assert {name for name, it in heard.items() if it["hz"] < 25} == set()
    state = heard["chassisState"]["message"]
    assert state["steering_commander"] == "mppi_controller"
    assert state["throttle_commander"] == state["front_brake_commander"] == "joystick"
    assert state["throttle"] == pytest.approx(0.1, abs=0.02)
    assert state["steering"] == pytest.approx(-0.5, abs=0.05)
    assert state["throttle_relay_enabled"] is state["autonomous_enabled"] is True
    speeds = heard["wheelSpeeds"]["message"]
    assert speeds["lb_speed"] == pytest.approx(1.0, abs=0.4)
    assert speeds["lb_speed"] < speeds["rb_speed"]  # it turns to the left
    assert speeds["lf_speed"] == speeds["lb_speed"]


def test_the_lowest_number_wins_and_its_silence_lets_nobody_else_drive(chassis, nodes):
    nodes("topic_publisher", "20", runstop(True))
    nodes("topic_publisher", "50", command("joystick", 0.2, 0.0, 0.0))
    first = nodes("topic_publisher", "50", command("mppi_controller", 0.1, 0.0, 0.0))
    chassis.until_it_drives(is_at(1.0), nodes)
    first.kill()
    row = chassis.until(is_stopped)
    assert "fell silent" in row["program"]


def test_a_runstop_stops_it_by_its_word_and_does_not_start_it_again(chassis, nodes):
    run = nodes("topic_publisher", "20", runstop(True))
    nodes("topic_publisher", "50", command("mppi_controller", 0.1, 0.0, 0.0))
    chassis.until_it_drives(is_at(1.0), nodes)
    run.kill()
    stop = nodes("topic_publisher", "20", runstop(False))
    chassis.until(is_stopped)
    refused = nodes("service_caller", "/tandem/arm")
    assert refused.stdout.readline().startswith("False The runstop OCS says stop.")
    stop.kill()
    nodes("topic_publisher", "20", runstop(True))
    for _ in range(20):
        row = chassis.until(lambda row: "state" in row)
    assert row["state"] == "STOPPED"
    chassis.until_it_drives(is_at(1.0), nodes)


def test_two_runstops_that_speak_in_the_same_moment_are_both_heard(chassis, nodes):
    """Of a queue of one, the second would put out the first each time: it would seem silent."""
    nodes("topic_publisher", "20", runstop(True, "RUNSTOP"), runstop(True))
    nodes("topic_publisher", "50", command("mppi_controller", 0.1, 0.0, 0.0))
    chassis.until_it_drives(is_at(1.0), nodes)


def test_a_runstop_stops_it_by_its_silence_while_another_one_goes_on(chassis, nodes):
    nodes("topic_publisher", "20", runstop(True, "RUNSTOP"))
    silent = nodes("topic_publisher", "20", runstop(True))
    nodes("topic_publisher", "50", command("mppi_controller", 0.1, 0.0, 0.0))
    chassis.until_it_drives(is_at(1.0), nodes)
    silent.kill()
    row = chassis.until(is_stopped)
    assert "silent" in row["program"]


PRIORITIES = "'planner': 0\n'mppi_controller': 1\n'RC': 7\n"


def test_chassis_command_priorities_are_read_as_they_are(started, nodes, tmp_path):
    path = tmp_path / "chassisCommandPriorities.yaml"
    path.write_text(PRIORITIES)
    ros = started("sim://autorally", "--as", "autorally", "--priorities", str(path))
    nodes("topic_publisher", "20", runstop(True))
    nodes("topic_publisher", "50", command("mppi_controller", 0.3, 0.0, 0.0))
    nodes("topic_publisher", "50", command("planner", 0.1, 0.0, 0.0))
    heard = ros.hears_while_driving(is_at(1.0), nodes, 0.5, STATE)
    assert heard["chassisState"]["message"]["throttle_commander"] == "planner"
