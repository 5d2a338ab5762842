"""What users' nodes hear of a car, and what else may drive it: namespaces, mux.yaml, vesc.yaml."""

from __future__ import annotations

import json
import math

import pytest

from host_bridge.logs.reading import read
from tests.ros.real_ros import IN_REAL_TIME
from tests.support import patience

pytestmark = IN_REAL_TIME

F1TENTH = {
    "ackermann_cmd": "ackermann_msgs/msg/AckermannDriveStamped",
    "odom": "nav_msgs/msg/Odometry",
    "/tf": "tf2_msgs/msg/TFMessage",
    "/tf_static": "tf2_msgs/msg/TFMessage",
    "scan": "sensor_msgs/msg/LaserScan",
    "sensors/core": "vesc_msgs/msg/VescStateStamped",
    "sensors/imu": "vesc_msgs/msg/VescImuStamped",
    "sensors/imu/raw": "sensor_msgs/msg/Imu",
    "sensors/servo_position_command": "std_msgs/msg/Float64",
    "/diagnostics": "diagnostic_msgs/msg/DiagnosticArray",
}
_SLOW = {"/tf_static", "/diagnostics"}


def hears(nodes, seconds: float, topics: dict[str, str]) -> dict[str, dict]:
    listener = nodes("listener", str(seconds), *(f"{name}={kind}" for name, kind in topics.items()))
    return json.loads(listener.stdout.readline())


def is_at(speed_mps: float):
    return lambda row: abs(row.get("speed_mps", 0.0) - speed_mps) < 0.1 * speed_mps


def test_f1tenth_s_topics_say_what_the_car_does(nodes, started):
    ros = started()
    nodes("talker", "drive", "0.5", "0.1", "40")
    topics = {name: kind for name, kind in F1TENTH.items() if name != "scan"}  # no walls here
    heard = ros.hears_while_driving(is_at(0.5), nodes, 2.0, topics)
    assert set(heard) == set(topics)
    # 50 a second; here other tests share the machine
    assert {name for name in topics.keys() - _SLOW if heard[name]["hz"] < 25} == set()
    last = {name: row["message"] for name, row in heard.items()}
    told = last["ackermann_cmd"]["drive"]
    assert (told["speed"], told["steering_angle"]) == pytest.approx((0.5, 0.1), abs=0.02)
    _where(last)
    _what_a_vesc_says(last)
    names = {it["name"] for it in last["/diagnostics"]["status"]}
    assert names == {f"tandem: {part}" for part in ("car", "stops", "commands", "battery")}


def _where(last):
    odom, tf = last["odom"], last["/tf"]["transforms"][0]
    assert (odom["header"]["frame_id"], odom["child_frame_id"]) == ("odom", "base_link")
    assert (tf["header"]["frame_id"], tf["child_frame_id"]) == ("odom", "base_link")
    assert odom["twist"]["twist"]["linear"]["x"] == pytest.approx(0.5, abs=0.1)
    assert odom["pose"]["pose"]["position"]["x"] == pytest.approx(
        tf["transform"]["translation"]["x"], abs=0.1
    )
    mount = last["/tf_static"]["transforms"][0]
    assert (mount["header"]["frame_id"], mount["child_frame_id"]) == ("base_link", "laser")
    assert mount["transform"]["translation"]["x"] == pytest.approx(0.2733, abs=1e-3)


def _what_a_vesc_says(last):
    state = last["sensors/core"]["state"]
    assert state["speed"] == pytest.approx(-4614 * 0.5, rel=0.2)  # theirs: forward is negative
    assert 9.0 < state["voltage_input"] < 13.0
    turns = 0.5 * math.tan(0.1) / 0.324
    assert last["sensors/imu/raw"]["angular_velocity"]["z"] == pytest.approx(turns, rel=0.3)
    assert last["sensors/imu/raw"]["linear_acceleration"]["z"] == pytest.approx(9.81, abs=0.01)
    assert last["sensors/imu"]["imu"]["angular_velocity"]["z"] == pytest.approx(turns, rel=0.3)
    servo = last["sensors/servo_position_command"]["data"]
    assert servo == pytest.approx(0.5304 - 1.2135 * 0.1, abs=0.01)


def test_a_scan_sees_the_walls_of_a_track(nodes, started):
    started("sim://f1tenth?track=corridor")
    scan = hears(nodes, 0.5, {"scan": F1TENTH["scan"]})["scan"]["message"]
    assert scan["header"]["frame_id"] == "laser"
    assert len(scan["ranges"]) == 1081
    assert scan["angle_increment"] == pytest.approx(math.radians(0.25))
    aside = [scan["ranges"][180 + turn] for turn in (0, 720)]  # to the right and to the left
    assert aside == pytest.approx([1.0, 1.0], abs=0.1)  # of a corridor that is 2 m wide


def test_a_late_listener_is_told_that_the_car_stopped(nodes, started):
    ros = started()
    talker = nodes("talker", "drive", "0.5", "0.0", "40")
    ros.until_it_drives(is_at(0.5), nodes)
    talker.kill()
    ros.until(lambda row: row.get("state") == "STOPPED")
    heard = hears(nodes, 0.5, {"/tandem/is_stopped": "std_msgs/msg/Bool"})
    assert heard["/tandem/is_stopped"]["message"]["data"] is True


def test_two_cars_under_two_names_are_two_cars(nodes, started):
    red, blue = started("sim://f1tenth", "--ns", "/red"), started("sim://f1tenth", "--ns", "/blue")
    nodes("talker", "/red/drive", "0.8", "0.0", "40")
    topics = {f"/{name}/odom": "nav_msgs/msg/Odometry" for name in ("red", "blue")}
    heard = red.hears_while_driving(is_at(0.8), nodes, 0.5, topics, "/red")
    speeds = {name: row["message"]["twist"]["twist"]["linear"]["x"] for name, row in heard.items()}
    assert speeds["/red/odom"] == pytest.approx(0.8, abs=0.15)
    assert speeds["/blue/odom"] == 0.0
    assert blue.until(lambda row: "speed_mps" in row)["speed_mps"] == 0.0


MUX = """
ackermann_mux:
  ros__parameters:
    topics:
      planner:
        topic: planner_cmd
        timeout: 0.2
        priority: 10
"""
VESC = """
/**:
  ros__parameters:
    speed_to_erpm_gain: 2307.0
    speed_to_erpm_offset: 0.0
    steering_angle_to_servo_gain: 1.2135
    steering_angle_to_servo_offset: 0.5
"""


def test_a_mux_yaml_names_who_drives(nodes, started, tmp_path):
    mux = tmp_path / "mux.yaml"
    mux.write_text(MUX)
    ros = started("sim://f1tenth", "--mux", str(mux))
    nodes("talker", "drive", "1.0", "0.0", "40")  # which this file does not name
    row = ros.until(lambda row: row.get("phase") == "driving")
    assert row["program"].endswith("Nothing comes on planner_cmd or commands/motor/speed.")
    nodes("talker", "planner_cmd", "0.5", "0.0", "40")
    ros.until_it_drives(is_at(0.5), nodes)


def test_a_vesc_yaml_scales_motor_and_servo(nodes, started, tmp_path):
    vesc = tmp_path / "vesc.yaml"
    vesc.write_text(VESC)
    ros = started("sim://f1tenth", "--vesc", str(vesc))
    says = ("commands/motor/speed=Float64=1153.5", "commands/servo/position=Float64=0.62135")
    nodes("topic_publisher", "40", *says)
    row = ros.until_it_drives(is_at(0.5), nodes)
    assert row["steer_rad"] == pytest.approx(0.1, abs=0.01)


def test_a_runstop_topic_stops_the_car_by_a_word(nodes, started):
    ros = started()
    nodes("talker", "drive", "0.5", "0.0", "40")
    run = nodes("topic_publisher", "20", "runstop=Bool=true")
    ros.until_it_drives(is_at(0.5), nodes)
    run.kill()
    nodes("topic_publisher", "20", "runstop=Bool=false")
    assert ros.until(lambda row: row.get("state") == "STOPPED")["speed_mps"] < 0.6


def test_a_runstop_topic_stops_the_car_by_its_silence(nodes, started):
    ros = started()
    nodes("talker", "drive", "0.5", "0.0", "40")
    run = nodes("topic_publisher", "20", "runstop=Bool=true")
    ros.until_it_drives(is_at(0.5), nodes)
    run.kill()
    ros.until(lambda row: row.get("state") == "STOPPED")


def test_the_gym_s_topics_tell_the_truth_in_a_map(nodes, started):
    ros = started("sim://f1tenth?track=corridor", "--as", "f1tenth_gym")
    nodes("talker", "drive", "0.5", "0.0", "40")
    topics = {"/ego_racecar/odom": "nav_msgs/msg/Odometry", "scan": "sensor_msgs/msg/LaserScan"}
    heard = ros.hears_while_driving(is_at(0.5), nodes, 1.0, topics)
    odom = heard["/ego_racecar/odom"]["message"]
    assert odom["header"]["frame_id"] == "map"
    assert odom["child_frame_id"] == "ego_racecar/base_link"
    assert odom["twist"]["twist"]["linear"]["x"] == pytest.approx(0.5, abs=0.1)
    assert heard["scan"]["message"]["header"]["frame_id"] == "ego_racecar/laser"


INITIAL = "initialpose=geometry_msgs/PoseWithCovarianceStamped="


def test_a_pose_puts_the_gym_s_car_elsewhere_and_it_drives_on(nodes, started):
    ros = started("sim://f1tenth?track=corridor", "--as", "f1tenth_gym")
    nodes("talker", "drive", "0.2", "0.0", "40")
    ros.until_it_drives(is_at(0.2), nodes)
    pose = {"position": {"x": -5.0, "y": 0.3}, "orientation": {"z": 0.0, "w": 1.0}}
    fields = json.dumps({"header": {"frame_id": "map"}, "pose": {"pose": pose}})
    nodes("topic_publisher", "5", INITIAL + fields).kill()
    ros.until(lambda row: row.get("state") == "STOPPED")
    topics = {"/ego_racecar/odom": "nav_msgs/msg/Odometry"}
    heard = ros.hears_while_driving(is_at(0.2), nodes, 0.3, topics)
    place = heard["/ego_racecar/odom"]["message"]["pose"]["pose"]["position"]
    assert -5.1 < place["x"] < 5.0
    assert place["y"] == pytest.approx(0.3, abs=0.1)


def test_an_opponent_has_topics_of_its_own_and_is_seen_by_the_other(nodes, started):
    """It stands 3 m ahead; without it the wall of the bend is more than 6 m away."""
    for _ in range(4):  # a busy machine may keep one of them from being armed
        ros = started(
            "sim://f1tenth?track=corridor",
            *("--as", "f1tenth_gym", "--opponent", "sim://f1tenth?start=3,0,0"),
        )
        row = ros.until(lambda row: (row.get("car"), row.get("phase")) == ("opponent", "driving"))
        if "summary" not in row:
            break
        patience.wait(ros.process, 60)
    kinds = {
        "/ego_racecar/odom": "nav_msgs/msg/Odometry",
        "/opp_racecar/odom": "nav_msgs/msg/Odometry",
        "/ego_racecar/opp_odom": "nav_msgs/msg/Odometry",
        "/opp_racecar/opp_odom": "nav_msgs/msg/Odometry",
        "scan": "sensor_msgs/msg/LaserScan",
        "opp_scan": "sensor_msgs/msg/LaserScan",
        "opp_racecar/joint_states": "sensor_msgs/msg/JointState",
    }
    heard = {name: it["message"] for name, it in hears(nodes, 0.3, kinds).items()}
    assert set(heard) == set(kinds)
    at_m = {name: heard[name]["pose"]["pose"]["position"]["x"] for name in kinds if "odom" in name}
    assert at_m["/opp_racecar/odom"] - at_m["/ego_racecar/odom"] == pytest.approx(3.0, abs=0.1)
    assert at_m["/ego_racecar/opp_odom"] == at_m["/opp_racecar/odom"]  # both stand
    assert at_m["/opp_racecar/opp_odom"] == at_m["/ego_racecar/odom"]
    assert heard["/opp_racecar/odom"]["child_frame_id"] == "opp_racecar/base_link"
    assert heard["opp_scan"]["header"]["frame_id"] == "opp_racecar/laser"
    ahead_m = heard["scan"]["ranges"][540]
    assert 2.0 < ahead_m < 3.0
    nodes("talker", "opp_drive", "0.3", "0.0", "40")
    for _ in range(12):  # armed again where a busy machine made it stop
        now = hears(nodes, 0.3, dict.fromkeys(at_m, "nav_msgs/msg/Odometry"))
        now_m = {name: it["message"]["pose"]["pose"]["position"]["x"] for name, it in now.items()}
        if now_m["/opp_racecar/odom"] > at_m["/opp_racecar/odom"] + 0.03:
            break
        nodes("service_caller", "/tandem_opponent/arm").stdout.readline()
    assert now_m["/opp_racecar/odom"] > at_m["/opp_racecar/odom"] + 0.03
    assert now_m["/ego_racecar/odom"] == at_m["/ego_racecar/odom"]


RACING = {
    "lap_count": "std_msgs/msg/Int32",
    "lap_time": "std_msgs/msg/Float32",
    "last_lap_time": "std_msgs/msg/Float32",
    "best_lap_time": "std_msgs/msg/Float32",
    "collision_count": "std_msgs/msg/Int32",
    "odom": "nav_msgs/msg/Odometry",
}


def test_autodrives_reset_puts_the_car_back_to_its_start(nodes, started):
    ros = started("sim://f1tenth?track=corridor&start=1,0.2,0", "--as", "autodrive_roboracer")
    its = "/autodrive/roboracer_1/"
    share = 1.0 / 22.88
    sayer = nodes("topic_publisher", "40", f"{its}throttle_command=Float32={share}")
    ros.until_it_drives(is_at(1.0), nodes)
    topics = {its + name: kind for name, kind in RACING.items()}
    heard = {
        name.removeprefix(its): it["message"] for name, it in hears(nodes, 1.0, topics).items()
    }
    assert set(heard) == set(RACING)
    assert heard["lap_time"]["data"] > 0.5
    assert heard["lap_count"]["data"] == heard["collision_count"]["data"] == 0
    assert heard["odom"]["pose"]["pose"]["position"]["x"] > 1.2
    sayer.kill()
    ros.until(lambda row: row.get("state") == "STOPPED")
    reset = nodes("topic_publisher", "5", "/autodrive/reset_command=Bool=true")
    reset.kill()
    ros.until_it_drives(lambda row: row.get("state") == "HOLD", nodes)
    back = hears(nodes, 0.3, {its + "odom": RACING["odom"]})[its + "odom"]["message"]
    at = back["pose"]["pose"]["position"]
    assert at["x"] == pytest.approx(1.0 - 0.16, abs=0.1)  # base_link is behind the centre
    assert at["y"] == pytest.approx(0.2, abs=0.02)


@pytest.mark.parametrize(("car", "called"), [("opencav", "opencav"), ("hunter_se", "hunter")])
def test_the_other_cars_of_autodrive_drive_by_their_names(nodes, started, car, called):
    ros = started(f"sim://{car}", "--as", f"autodrive_{called}")
    its = f"/autodrive/{called}_1/"
    says = [f"{its}throttle_command=Float32=0.1", f"{its}steering_command=Float32=0.5"]
    if called == "opencav":
        says.append(f"{its}brake_command=Float32=0.0")
    nodes("topic_publisher", "40", *says)
    ros.until_it_drives(lambda row: row.get("speed_mps", 0.0) > 0.1, nodes)
    topics = {its + "gnss": "geometry_msgs/msg/Point", its + "odom": "nav_msgs/msg/Odometry"}
    heard = hears(nodes, 0.5, topics)
    assert heard[its + "odom"]["message"]["child_frame_id"] == f"{called}_1"
    assert set(heard) == set(topics)


def test_nigel_s_lights_are_claimed(nodes, started, tmp_path):
    log = tmp_path / "lights.mcap"
    ros = started("sim://nigel", "--as", "autodrive_nigel", "--record", str(log))
    its = "/autodrive/nigel_1/"
    says = ("throttle_command=Float32=0.5", "steering_command=Float32=0.0")
    lights = ("headlights_command=Int32=1", "indicators_command=Int32=2")
    nodes("topic_publisher", "40", *(its + it for it in (*says, *lights)))
    ros.until_it_drives(lambda row: row.get("speed_mps", 0.0) > 0.1, nodes)
    ros.process.terminate()
    patience.wait(ros.process, 60)
    claimed = [it.value["lights"] for it in read(log) if it.topic == "claim"]
    assert 0b1001 in claimed


def test_autodrives_topics_drive_and_tell(nodes, started):
    """A throttle of 1 is the simulator's top speed, 22.88 m/s."""
    ros = started("sim://f1tenth?track=corridor", "--as", "autodrive_f1tenth")
    its = "/autodrive/f1tenth_1/"
    share = 0.5 / 22.88
    says = (f"{its}throttle_command=Float32={share}", f"{its}steering_command=Float32=0.0")
    nodes("topic_publisher", "40", *says)
    kinds = {
        "throttle": "std_msgs/msg/Float32",
        "steering": "std_msgs/msg/Float32",
        "speed": "std_msgs/msg/Float32",
        "odom": "nav_msgs/msg/Odometry",
        "ips": "geometry_msgs/msg/Point",
        "imu": "sensor_msgs/msg/Imu",
        "lidar": "sensor_msgs/msg/LaserScan",
        "left_encoder": "sensor_msgs/msg/JointState",
    }
    topics = {its + name: kind for name, kind in kinds.items()}
    heard = ros.hears_while_driving(is_at(0.5), nodes, 1.0, topics)
    last = {name.removeprefix(its): row["message"] for name, row in heard.items()}
    assert set(last) == set(kinds)
    assert last["throttle"]["data"] == pytest.approx(share, rel=0.1)
    assert last["speed"]["data"] == pytest.approx(0.5, abs=0.1)
    assert last["odom"]["header"]["frame_id"] == "map"
    assert last["odom"]["child_frame_id"] == "f1tenth_1"
    x_m = last["odom"]["pose"]["pose"]["position"]["x"]
    assert last["ips"]["x"] == pytest.approx(x_m, abs=0.1)
    turned_rad = last["left_encoder"]["position"][0]
    assert turned_rad * 0.059 == pytest.approx(x_m, abs=0.6)
    assert len(last["lidar"]["ranges"]) == 1081
