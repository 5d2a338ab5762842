"""Autoware's vehicle interface under a real rclpy: control is asked for, gears are obeyed."""

from __future__ import annotations

import json

import pytest

from tests.ros.real_ros import IN_REAL_TIME

pytestmark = IN_REAL_TIME

DRIVE, REVERSE, PARK, NEUTRAL = 2, 20, 22, 1
AUTONOMOUS, STEER_ONLY, MANUAL, NOT_READY = 1, 2, 4, 6
MODE = ("/control/control_mode_request", "autoware_vehicle_msgs/ControlModeCommand")
REPORTS = {
    "velocity_status": "VelocityReport",
    "steering_status": "SteeringReport",
    "gear_status": "GearReport",
    "control_mode": "ControlModeReport",
    "turn_indicators_status": "TurnIndicatorsReport",
    "hazard_lights_status": "HazardLightsReport",
}


def control(speed_mps: float, steer_rad: float = 0.0) -> str:
    fields = {
        "longitudinal": {"velocity": speed_mps},
        "lateral": {"steering_tire_angle": steer_rad},
    }
    return f"/control/command/control_cmd=autoware_control_msgs/Control={json.dumps(fields)}"


def command(name: str, kind: str, **fields) -> str:
    return f"/control/command/{name}=autoware_vehicle_msgs/{kind}={json.dumps(fields)}"


def gear(number: int) -> str:
    return command("gear_cmd", "GearCommand", command=number)


def emergency(is_one: bool) -> str:
    fields = json.dumps({"emergency": is_one})
    return f"/control/command/emergency_cmd=tier4_vehicle_msgs/VehicleEmergencyStamped={fields}"


def asks_for(nodes, mode: int) -> bool:
    """Whether control was given, or taken away."""
    words = nodes("service_caller", *MODE, json.dumps({"mode": mode})).stdout.readline()
    return words.startswith("True")


def hears(nodes, seconds: float = 0.5) -> dict[str, dict]:
    topics = (f"/vehicle/status/{n}=autoware_vehicle_msgs/msg/{k}" for n, k in REPORTS.items())
    heard = json.loads(nodes("listener", str(seconds), *topics).stdout.readline())
    return {name.removeprefix("/vehicle/status/"): row for name, row in heard.items()}


@pytest.fixture
def autoware(started):
    """``tandem ros`` as Autoware sees a car, driving until it is told otherwise."""
    ros = started("sim://f1tenth", "--as", "autoware")
    ros.until(lambda row: row.get("phase") == "driving")
    return ros


def drives(ros, nodes, is_so, stops: int = 4) -> dict:
    """Until that is so; asked for again where a machine busy with other tests made it stop."""
    for _ in range(stops):
        assert asks_for(nodes, AUTONOMOUS)
        ros.until(lambda row: row.get("state") != "STOPPED")  # after those of before it was armed
        row = ros.until(lambda row: is_so(row) or row.get("state") == "STOPPED")
        if is_so(row):
            return row
    raise AssertionError(f"it stops again and again: {row}")


def is_at(speed_mps: float):
    return lambda row: abs(row.get("speed_mps", 0.0) - speed_mps) < 0.1 * abs(speed_mps)


def stands_for(ros, lines: int) -> set[float]:
    return {ros.until(lambda row: "speed_mps" in row)["speed_mps"] for _ in range(lines)}


def test_nothing_moves_before_control_was_asked_for(autoware, nodes):
    nodes("topic_publisher", "33", "latched", control(1.0), gear(DRIVE))
    assert stands_for(autoware, 15) == {0.0}
    row = autoware.until(lambda row: "program" in row)
    assert "has not asked for control" in row["program"]
    assert hears(nodes)["control_mode"]["message"]["mode"] == MANUAL


def test_it_drives_in_gear_and_reports_what_it_does(autoware, nodes):
    left = command("turn_indicators_cmd", "TurnIndicatorsCommand", command=2)
    hazard = command("hazard_lights_cmd", "HazardLightsCommand", command=2)
    nodes("topic_publisher", "33", "latched", control(0.5, 0.1), gear(DRIVE), left, hazard)
    row = drives(autoware, nodes, is_at(0.5))
    assert row["commanded_by"] == "ros2"
    heard = hears(nodes)
    assert set(heard) == set(REPORTS)
    assert {name for name, it in heard.items() if it["hz"] < 25} == set()
    last = {name: it["message"] for name, it in heard.items()}
    velocity = last["velocity_status"]
    assert velocity["header"]["frame_id"] == "base_link"
    assert velocity["longitudinal_velocity"] == pytest.approx(0.5, abs=0.1)
    assert velocity["heading_rate"] == pytest.approx(0.5 * 0.1 / 0.324, rel=0.3)
    assert last["steering_status"]["steering_tire_angle"] == pytest.approx(0.1, abs=0.01)
    assert last["gear_status"]["report"] == DRIVE
    assert last["control_mode"]["mode"] == AUTONOMOUS
    assert last["turn_indicators_status"]["report"] == 2
    assert last["hazard_lights_status"]["report"] == 2


@pytest.mark.parametrize(("number", "speed_mps"), [(REVERSE, 0.5), (DRIVE, -0.5), (NEUTRAL, 0.5)])
def test_nothing_moves_against_its_gear(autoware, nodes, number, speed_mps):
    nodes("topic_publisher", "33", control(speed_mps), gear(number))
    assert asks_for(nodes, AUTONOMOUS)
    assert stands_for(autoware, 15) == {0.0}
    assert hears(nodes)["gear_status"]["message"]["report"] == number


def test_no_gear_at_all_is_park(autoware, nodes):
    nodes("topic_publisher", "33", control(0.5))
    assert asks_for(nodes, AUTONOMOUS)
    assert stands_for(autoware, 15) == {0.0}
    assert hears(nodes)["gear_status"]["message"]["report"] == PARK


def test_reverse_drives_backwards(autoware, nodes):
    nodes("topic_publisher", "33", control(-0.5), gear(REVERSE))
    drives(autoware, nodes, is_at(-0.5))


def test_a_command_without_an_age_has_a_lease(autoware, nodes):
    planner = nodes("topic_publisher", "33", "latched", control(0.5), gear(DRIVE))
    drives(autoware, nodes, is_at(0.5))
    planner.kill()
    row = autoware.until(lambda row: row.get("state") == "STOPPED")
    assert "ROS 2 fell silent" in row["why_stopped"]
    assert hears(nodes)["control_mode"]["message"]["mode"] == NOT_READY


def test_an_emergency_stops_it_and_that_it_is_over_moves_nothing(autoware, nodes):
    nodes("topic_publisher", "33", control(0.5), gear(DRIVE))
    drives(autoware, nodes, is_at(0.5))
    said = nodes("topic_publisher", "10", emergency(True))
    autoware.until(lambda row: row.get("state") == "STOPPED")
    assert not asks_for(nodes, AUTONOMOUS)
    said.kill()
    nodes("topic_publisher", "10", emergency(False))
    assert stands_for(autoware, 10) == {0.0}
    drives(autoware, nodes, is_at(0.5))


def test_manual_takes_control_away_and_steering_alone_is_refused(autoware, nodes):
    nodes("topic_publisher", "33", control(0.5), gear(DRIVE))
    for _ in range(4):  # where a machine busy with other tests made it stop
        drives(autoware, nodes, is_at(0.5))
        assert not asks_for(nodes, STEER_ONLY)
        assert asks_for(nodes, MANUAL)
        row = autoware.until(lambda row: row.get("speed_mps") == 0.0)
        if row["state"] != "STOPPED":
            break
    assert row["state"] == "HOLD", row["why_stopped"]
    assert hears(nodes)["control_mode"]["message"]["mode"] == MANUAL


# --- drivers outside

EXTERNAL = "tier4_external_api_msgs"


def outside(name: str, kind: str, fields: dict, who: str = "local") -> str:
    return f"/api/external/set/command/{who}/{name}={EXTERNAL}/{kind}={json.dumps(fields)}"


def pedals(throttle: float, brake: float = 0.0, steer_rad: float = 0.0) -> str:
    fields = {"throttle": throttle, "brake": brake, "steering_angle": steer_rad}
    return outside("control", "ControlCommandStamped", {"control": fields})


def test_a_driver_outside_drives_by_pedals_while_the_heartbeat_lasts(nodes, autoware):
    shift = outside("shift", "GearShiftStamped", {"gear_shift": {"data": 4}})
    nodes("topic_publisher", "50", pedals(0.25, steer_rad=0.1), shift)
    beating = nodes("topic_publisher", "10", outside("heartbeat", "Heartbeat", {}))
    row = drives(autoware, nodes, lambda row: row.get("speed_mps", 0.0) > 0.5)
    assert row["steer_rad"] == pytest.approx(0.1, abs=0.02)
    assert row["program"].startswith("ROS 2: /api/external/set/command/local/control drives")
    beating.kill()
    row = autoware.until(lambda row: row.get("state") == "STOPPED")
    assert "ROS 2 fell silent" in row["why_stopped"]


def test_pedals_without_a_heartbeat_move_nothing(nodes, autoware):
    nodes("topic_publisher", "50", pedals(0.25))
    assert asks_for(nodes, AUTONOMOUS)
    heard = nodes("listener", "3", "/diagnostics=diagnostic_msgs/msg/DiagnosticArray")
    told = heard.stdout.readline()
    assert "its heartbeat was never heard" in told
    row = autoware.until(lambda row: row.get("phase") == "driving")
    assert row["speed_mps"] == 0.0


def test_an_operators_emergency_stops_by_the_cars_word(nodes, autoware):
    service = ["/api/autoware/set/emergency", f"{EXTERNAL}/SetEmergency"]
    asked = nodes("service_caller", *service, json.dumps({"emergency": True})).stdout.readline()
    assert asked.startswith("True")
    autoware.until(lambda row: row.get("state") == "STOPPED")
    assert not asks_for(nodes, AUTONOMOUS)
    engage = ["/api/autoware/set/engage", f"{EXTERNAL}/Engage"]
    asked = nodes("service_caller", *engage, json.dumps({"engage": True})).stdout.readline()
    assert asked.startswith("False Autoware says emergency")
