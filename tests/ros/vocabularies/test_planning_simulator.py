"""``tandem planning-simulator`` as Autoware's node, under a real rclpy, in lockstep by /clock."""

from __future__ import annotations

import csv
import json
import struct
import subprocess
from math import sin
from pathlib import Path

import pytest

from sim_mock.models.planning.gear import accel_along_x_mps2
from sim_mock.models.planning.model_types import MODEL_TYPES, make_car
from sim_mock.models.planning.motion import DriverCommand
from tests.ros.real_ros import IN_REAL_TIME, PYTHON, ROOT

DATA = ROOT.parent / "shared" / "data"
TRACES = DATA / "simple_planning_simulator"
WHEELBASE_M, STEP_S = 2.7898, 0.025  # of the traces, and Autoware's defaults
DRIVE, REVERSE = 2, 20
QUANTITIES = ("x_m", "y_m", "yaw_rad", "vx_mps", "wz_radps", "ax_mps2", "steer_rad")

pytestmark = IN_REAL_TIME

MODEL = """\
/**:
  ros__parameters:
    simulated_frame_id: "base_link"
    origin_frame_id: "map"
    vehicle_model_type: "{model}"
    initialize_source: "INITIAL_POSE_TOPIC"
    timer_sampling_time_ms: 25
    add_measurement_noise: False
    acceleration_map_path: "{map}"
"""
VEHICLE = """\
/**:
  ros__parameters: {wheel_radius: 0.383, wheel_base: 2.7898, front_overhang: 1.0}
"""
MAP = "default, 0.0, 10.0\n-4.0, -4.0, -3.0\n0.0, 0.0, -0.1\n4.0, 4.0, 2.0\n"


def drive_of(rows: int) -> list[dict[str, float]]:
    """Forward round a bend, to rest, and backward."""
    made = []
    for i in range(rows):
        is_back = i > rows * 0.7
        is_braking = rows * 0.5 < i <= rows * 0.7
        speed = -1.0 if is_back else 0.0 if is_braking else 3.0
        accel = 0.5 if is_back else -2.0 if is_braking else 1.0
        made.append(
            {
                "gear": REVERSE if is_back else DRIVE,
                "vel_des_mps": speed,
                "acc_des_mps2": accel,
                "steer_des_rad": 0.3 * sin(i * 0.05),
            }
        )
    return made


def single(value: float) -> float:
    """As a message has it."""
    return struct.unpack("f", struct.pack("f", value))[0]


def expected(model: str, rows: list[dict[str, float]], map_path: Path) -> list[dict[str, float]]:
    """What the project's own model makes of the same commands."""
    given = {"acceleration_map_path": str(map_path)}
    car = make_car(model, given, WHEELBASE_M, STEP_S)
    told = []
    for row in rows:
        gear = int(row["gear"])
        accel = accel_along_x_mps2(gear, single(row["acc_des_mps2"]))
        steer = single(row["steer_des_rad"])
        car.step(STEP_S, DriverCommand(single(row["vel_des_mps"]), accel, steer, gear))
        told.append(car.report()._asdict())
    return told


def written(rows: list[dict[str, float]], path: Path) -> Path:
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0].keys())
        writer.writeheader()
        writer.writerows(rows)
    return path


@pytest.fixture
def simulator(environment, tmp_path):
    """Starts it with Autoware's files and more words, and ends it."""
    running: list[subprocess.Popen] = []

    def start(model: str, *words: str) -> subprocess.Popen:
        (tmp_path / "map.csv").write_text(MAP)
        (tmp_path / "model.param.yaml").write_text(MODEL.format(model=model, map="map.csv"))
        (tmp_path / "vehicle.param.yaml").write_text(VEHICLE)
        files = [f"--params={tmp_path / name}.param.yaml" for name in ("vehicle", "model")]
        command = [PYTHON, "-m", "host_bridge.cli.main", "planning-simulator"]
        running.append(
            subprocess.Popen([*command, *files, "--seconds", "300", *words], env=environment)
        )
        return running[-1]

    yield start
    for process in running:
        process.kill()
        process.wait()


def told_by(node: subprocess.Popen) -> list[dict[str, float]]:
    assert node.stdout is not None
    return [json.loads(line) for line in node.stdout.read().splitlines()]


def worst(found, wanted) -> float:
    assert len(found) == len(wanted) > 0
    pairs = zip(found, wanted, strict=True)
    return max(abs(a[name] - b[name]) for a, b in pairs for name in QUANTITIES)


SHORT = ("DELAY_STEER_ACC_GEARED", "DELAY_STEER_VEL", "DELAY_STEER_MAP_ACC_GEARED")


@pytest.mark.parametrize(
    "model",
    [
        model if model in SHORT else pytest.param(model, marks=pytest.mark.soak)
        for model in MODEL_TYPES
    ],
)
def test_it_moves_as_the_model_does_step_by_step(simulator, nodes, tmp_path, model):
    rows = drive_of(200)
    simulator(model, "-p", "use_sim_time:=true")
    trace = written(rows, tmp_path / "trace.csv")
    told = told_by(nodes("stepper", str(trace), str(STEP_S), str(len(rows))))
    wanted = expected(model, rows, tmp_path / "map.csv")
    assert max(row["x_m"] for row in wanted) > 3.0
    assert min(row["vx_mps"] for row in wanted) < -0.1  # backward, the slowest models too
    assert worst(told, wanted) < 1e-6  # the steering's report has single precision
    assert [row["gear"] for row in told] == [row["gear"] for row in rows]


def test_commands_that_came_before_a_tick_count_for_it(simulator, nodes, tmp_path):
    """Nobody waits between: rclpy has both, and hands over the clock first. A service that is
    answered is no sign that they were taken either, for rclpy looks at services after topics."""
    rows = drive_of(200)
    simulator("DELAY_STEER_ACC_GEARED", "-p", "use_sim_time:=true")
    trace = written(rows, tmp_path / "trace.csv")
    told = told_by(nodes("stepper", str(trace), str(STEP_S), str(len(rows)), "bare"))
    assert worst(told, expected("DELAY_STEER_ACC_GEARED", rows, tmp_path / "map.csv")) < 1e-6


@pytest.mark.skipif(not TRACES.is_dir(), reason="no traces of Autoware's models beside the project")
@pytest.mark.parametrize(
    "rows", [pytest.param(400, id="10 s"), pytest.param(1600, id="40 s", marks=pytest.mark.soak)]
)
def test_it_moves_as_autowares_own_node_did(simulator, nodes, tmp_path, rows):
    """The trace's accelerations are the model's: in reverse gear they were turned round before."""
    path = TRACES / "DELAY_STEER_ACC_GEARED.csv"
    with path.open(newline="") as file:
        wanted = [{k: float(v) for k, v in row.items()} for row in csv.DictReader(file)][:rows]
    for row in wanted:
        row["acc_des_mps2"] = accel_along_x_mps2(int(row["gear"]), row["acc_des_mps2"])
    simulator("DELAY_STEER_ACC_GEARED", "-p", "use_sim_time:=true")
    trace = written(wanted, tmp_path / "trace.csv")
    told = told_by(nodes("stepper", str(trace), str(STEP_S), str(rows)))
    assert worst(told, wanted) < 1e-4  # commands have single precision


def test_a_command_expires(simulator, nodes, tmp_path):
    rows = drive_of(100)[:50]
    simulator("DELAY_STEER_ACC_GEARED", "-p", "use_sim_time:=true")
    trace = written(rows, tmp_path / "trace.csv")
    told = told_by(nodes("stepper", str(trace), str(STEP_S), "50", "silent=200"))
    speeds = [row["vx_mps"] for row in told]
    assert speeds[49] > 0.8
    assert speeds[49 + 18] > speeds[49]  # for half a second it goes on, as theirs does for ever
    assert abs(speeds[-1]) < 0.01
    assert min(speeds) > -0.01


VEHICLE_MSG = "autoware_vehicle_msgs/msg/"
ALWAYS = {
    "/vehicle/status/velocity_status": f"{VEHICLE_MSG}VelocityReport",
    "/vehicle/status/steering_status": f"{VEHICLE_MSG}SteeringReport",
    "/vehicle/status/gear_status": f"{VEHICLE_MSG}GearReport",
    "/vehicle/status/control_mode": f"{VEHICLE_MSG}ControlModeReport",
    "/sensing/imu/imu_data": "sensor_msgs/msg/Imu",
    "/tf": "tf2_msgs/msg/TFMessage",
}
ODOMETRY = "nav_msgs/msg/Odometry"
ACCELERATION = "geometry_msgs/msg/AccelWithCovarianceStamped"
POSE = "geometry_msgs/msg/PoseWithCovarianceStamped"
MOTION = {
    "full_motion": {
        "/localization/kinematic_state": ODOMETRY,
        "/localization/acceleration": ACCELERATION,
        "/simulation/debug/localization/pose_estimator/pose_with_covariance": POSE,
    },
    "pose_only": {
        "/simulation/debug/localization/kinematic_state": ODOMETRY,
        "/simulation/debug/localization/acceleration": ACCELERATION,
        "/localization/pose_estimator/pose_with_covariance": POSE,
    },
}
ORIGIN = ("-p", "initialize_source:=ORIGIN")


def hears(nodes, seconds: float, topics: dict[str, str]) -> dict[str, dict]:
    listener = nodes("listener", str(seconds), *(f"{name}={kind}" for name, kind in topics.items()))
    return json.loads(listener.stdout.readline())


def control(speed_mps: float, accel_mps2: float, topic: str = "/control/command/control_cmd"):
    along = {"velocity": speed_mps, "acceleration": accel_mps2}
    return f"{topic}=autoware_control_msgs/Control={json.dumps({'longitudinal': along})}"


@pytest.mark.parametrize("publish", ["full_motion", "pose_only"])
def test_topics_types_and_rates_are_theirs(simulator, nodes, publish):
    simulator("IDEAL_STEER_VEL", *ORIGIN, "--publish", publish)
    topics = {**ALWAYS, **MOTION[publish]}
    heard = hears(nodes, 2.0, topics)
    assert set(heard) == set(topics)
    # Each 25 ms; here other tests share the machine
    assert {name: row["hz"] for name, row in heard.items() if not 20 < row["hz"] < 45} == {}
    last = {name: row["message"] for name, row in heard.items()}
    transform = last["/tf"]["transforms"][0]
    assert (transform["header"]["frame_id"], transform["child_frame_id"]) == ("map", "base_link")
    odometry, acceleration, pose = (last[name] for name in MOTION[publish])
    assert (odometry["header"]["frame_id"], odometry["child_frame_id"]) == ("map", "base_link")
    assert odometry["pose"]["covariance"][0] == 0.0001
    assert acceleration["accel"]["covariance"][35] == 0.001
    assert [pose["pose"]["covariance"][i] for i in (0, 35)] == [0.0225, 0.000625]


def test_its_name_and_parameters_are_theirs(simulator, nodes):
    simulator("DELAY_STEER_ACC_GEARED", *ORIGIN, "-p", "steer_lim:=0.6")
    name = "/simulation/simple_planning_simulator"
    wanted = {
        "vehicle_model_type": "DELAY_STEER_ACC_GEARED",
        "timer_sampling_time_ms": 25,
        "steer_lim": 0.6,
        "acc_time_constant": 0.1,
        "wheel_base": 2.7898,
        "initial_engage_state": True,
    }
    told = json.loads(nodes("parameter_reader", name, *wanted).stdout.readline())
    assert told["values"] == wanted
    assert name in told["nodes"]
    assert told["is_set"] is False  # theirs takes it, and goes on as before


def test_before_a_pose_it_says_who_is_in_control_and_nothing_else(simulator, nodes):
    simulator("IDEAL_STEER_VEL")
    topics = {
        "/vehicle/status/control_mode": ALWAYS["/vehicle/status/control_mode"],
        "/tf": ALWAYS["/tf"],
    }
    listener = nodes("listener", "1.0", *(f"{name}={kind}" for name, kind in topics.items()))
    placed = {"pose": {"header": {"frame_id": "odom"}}}
    placing = ("tier4_external_api_msgs/InitializePose",)
    refused = nodes("service_caller", "/api/simulator/set/pose", *placing, json.dumps(placed))
    assert refused.stdout.readline().startswith("False its frame is another one")
    listener.kill()
    placed["pose"]["header"]["frame_id"] = "map"
    placed["pose"]["pose"] = {"pose": {"position": {"x": 3.0, "y": 4.0, "z": 5.0}}}
    done = nodes("service_caller", "/api/simulator/set/pose", *placing, json.dumps(placed))
    assert done.stdout.readline().startswith("True")
    place = hears(nodes, 0.2, topics)["/tf"]["message"]["transforms"][0]["transform"]["translation"]
    assert [place[axis] for axis in "xyz"] == [3.0, 4.0, 5.0]


def test_manual_commands_count_while_manual_is_in_control(simulator, nodes):
    simulator("IDEAL_STEER_VEL", *ORIGIN)
    nodes(
        "topic_publisher",
        "40",
        control(1.0, 0.0),
        control(2.0, 0.0, "/vehicle/command/manual_control_cmd"),
    )
    velocity = {"/vehicle/status/velocity_status": f"{VEHICLE_MSG}VelocityReport"}

    def speed() -> float:
        (row,) = hears(nodes, 0.1, velocity).values()
        return row["message"]["longitudinal_velocity"]

    def asks(mode: int) -> bool:
        words = ("/control/control_mode_request", "autoware_vehicle_msgs/ControlModeCommand")
        answer = nodes("service_caller", *words, json.dumps({"mode": mode})).stdout.readline()
        return answer.startswith("True")

    assert speed() == 1.0
    assert asks(4)
    assert speed() == 2.0
    assert not asks(2)
    assert asks(1)
    assert speed() == 1.0


def test_it_stands_until_it_is_engaged(simulator, nodes):
    simulator("IDEAL_STEER_VEL", *ORIGIN, "--engaged", "false")
    nodes("topic_publisher", "40", control(1.0, 0.0))
    odometry = {"/localization/kinematic_state": ODOMETRY}

    def is_moving() -> bool:
        (row,) = hears(nodes, 0.3, odometry).values()
        return row["message"]["pose"]["pose"]["position"]["x"] > 0.0

    assert not is_moving()
    nodes("topic_publisher", "10", '/vehicle/engage=autoware_vehicle_msgs/Engage={"engage": true}')
    assert is_moving()
