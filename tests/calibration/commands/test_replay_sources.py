"""``tandem replay`` of every shipped vehicle, from every source that its drive may come from."""

from __future__ import annotations

import csv
import json
from dataclasses import dataclass
from math import cos, sin
from pathlib import Path

import pytest
import tandem

from host_bridge.cli import main as cli
from host_bridge.config import load_vehicle
from host_bridge.config.vehicle.vehicle import vehicle_names
from host_bridge.core import Vehicle
from host_bridge.logs.bags.bag import Bag
from host_bridge.logs.bags.reading import read_bag
from tests.calibration.logs.test_run_bag import ROS1, chassis, share
from tests.calibration.logs.test_run_bag import SHARE as FLOAT
from tests.host_bridge.logs.made_bags import ACKERMANN, KINDS, ODOMETRY, START_NS, odom, write
from tests.host_bridge.logs.made_bags import drive as ackermann
from tests.host_bridge.logs.test_bag_messages import NEW, OLD, control, posed

VEHICLES = vehicle_names()
STRAIGHT = ("--input", "script:straight", "--seconds", "4")
# Position error at the end as a share of the way. A log of Tandem has what its ramp and its brake
# did. Commands alone tell later than the car that it stops, by 0.1 s; and of those that end with a
# throttle of 0, that the car braked then and did not roll, is not told at all.
OF_LOGS, OF_COMMANDS, OF_THROTTLE = 0.03, 0.1, 0.2
POSE = "geometry_msgs/msg/PoseStamped"


@dataclass(frozen=True)
class Drive:
    """One drive of a vehicle: its log, and the same as commands and poses."""

    vehicle: Vehicle
    log: Path
    bag: Path
    rows: Bag


@pytest.fixture(scope="module", params=VEHICLES)
def driven(request, tmp_path_factory) -> Drive:
    folder = tmp_path_factory.mktemp(request.param)
    log, bag = folder / "drive.mcap", folder / "bag.mcap"
    car = ["--car", f"sim://{request.param}", *STRAIGHT, "--lockstep", "--record", str(log)]
    assert cli.main(["drive", *car]) == 0
    assert cli.main(["log", str(log), "--ros", str(bag)]) == 0
    return Drive(load_vehicle(request.param), log, bag, read_bag(bag))


def is_predicted(words, share_of_way, capsys) -> None:
    """The twin ends where the car did, by what this source tells."""
    capsys.readouterr()
    assert cli.main(["replay", *map(str, words), "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert row["twin"]["error_percent_of_way"] < 100 * share_of_way
    moved_m = abs(row["car"]["x_m"][-1] - row["car"]["x_m"][0])
    moved_m += abs(row["car"]["y_m"][-1] - row["car"]["y_m"][0])
    assert moved_m > 0.5


@pytest.mark.fit
def test_from_a_log_in_lockstep(driven, capsys):
    is_predicted([driven.log], OF_LOGS, capsys)


@pytest.mark.fit
@pytest.mark.parametrize("vehicle", VEHICLES)
def test_from_a_log_of_a_script(vehicle, tmp_path, capsys):
    log = tmp_path / "drive.mcap"
    speed_mps = min(0.3 * load_vehicle(vehicle).speed_max_mps, 2.0)  # what a script may
    with tandem.open(f"sim://{vehicle}", lockstep=True, record=log) as car:
        car.arm()
        for _ in car.ticks(4.0):
            car.drive(speed_mps, 0.0)
        car.stop()
    is_predicted([log], OF_LOGS, capsys)


@pytest.mark.fit
def test_from_the_csv_of_a_log(driven, tmp_path, capsys):
    assert cli.main(["log", str(driven.log), "--csv", str(tmp_path)]) == 0
    (commands,), (odometry,) = (
        list(tmp_path.glob(f"*_{it}.csv")) for it in ("commands", "odometry")
    )
    words = ["--vehicle", driven.vehicle.name, "--commands", commands, "--against", odometry]
    is_predicted([*words, "--calibration", "none"], OF_THROTTLE, capsys)


@pytest.mark.fit
def test_from_a_log_and_a_motion_capture_of_its_own_clock(driven, tmp_path, capsys):
    tracked = tmp_path / "mocap.csv"
    with tracked.open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(("t_s", "x_m", "y_m"))
        for it in driven.rows.odometry:
            x_m, y_m = cos(0.4) * it.x_m - sin(0.4) * it.y_m, sin(0.4) * it.x_m + cos(0.4) * it.y_m
            rows.writerow((it.t_s + 77.0, x_m + 3.0, y_m))
    is_predicted([driven.log, "--tracked", tracked], OF_COMMANDS, capsys)


@pytest.mark.fit
@pytest.mark.parametrize(
    ("vocabulary", "kind"),
    [
        *(("f1tenth", kind) for kind in KINDS),
        ("autoware", ".mcap"),
        ("auto", ".db3"),
        ("autodrive", ".bag"),
        ("autorally", ".bag"),
    ],
)
def test_from_a_bag_in_each_vocabulary(driven, kind, vocabulary, tmp_path, capsys):
    rows = sorted(
        [*commanded(driven, vocabulary), *places(driven, vocabulary)], key=lambda it: it[0]
    )
    bag = write(tmp_path, kind, rows)
    words = ["--vehicle", driven.vehicle.name, "--bag", bag, "--calibration", "none"]
    is_predicted(words, OF_THROTTLE if vocabulary == "autodrive" else OF_COMMANDS, capsys)


@pytest.mark.fit
def test_from_a_bag_with_a_motion_capture(driven, tmp_path, capsys):
    rows = [*commanded(driven, "f1tenth"), *places(driven, "mocap")]
    bag = write(tmp_path, ".mcap", sorted(rows, key=lambda it: it[0]))
    words = ["--vehicle", driven.vehicle.name, "--bag", bag, "--odom-topic", "/vrpn/car/pose"]
    is_predicted([*words, "--calibration", "none"], OF_COMMANDS, capsys)


def at_ns(time_s: float) -> int:
    return START_NS + round(time_s * 1e9)


def commanded(driven: Drive, vocabulary: str):
    """The drive's commands as this vocabulary's publishers write them."""
    shares = driven.vehicle.speed_max_mps, driven.vehicle.steer_max_rad
    for it in driven.rows.commands:
        when, speed, steer = at_ns(it.t_s), it.speed_mps, it.steer_rad
        if vocabulary == "f1tenth":
            yield when, "/drive", ACKERMANN, ackermann(speed, steer)
        elif vocabulary in ("autoware", "auto"):
            kind = NEW if vocabulary == "autoware" else OLD
            yield when, "/control/command/control_cmd", kind, control(kind, speed, steer)
        elif vocabulary == "autodrive":
            yield when, "/autodrive/a/steering_command", FLOAT, share(steer / shares[1])
            yield when, "/autodrive/a/throttle_command", FLOAT, share(speed / shares[0])
        else:
            state = chassis(f"{ROS1}State", speed / shares[0], -steer / shares[1], 0.0)
            yield when, "/chassisState", f"{ROS1}State", state
    if vocabulary in ("autodrive", "autorally"):  # which say that they stop
        end = at_ns(it.t_s + 0.1)
        if vocabulary == "autodrive":
            yield end, "/autodrive/a/throttle_command", FLOAT, share(0.0)
        else:
            yield end, "/chassisState", f"{ROS1}State", chassis(f"{ROS1}State", 0.0, 0.0, 1.0)
            last = at_ns(driven.rows.odometry[-1].t_s)
            yield last, "/chassisState", f"{ROS1}State", chassis(f"{ROS1}State", 0.0, 0.0, 1.0)


def places(driven: Drive, vocabulary: str):
    """The drive's poses on the topic where this vocabulary has them."""
    topics = {"autorally": "/pose_estimate", "mocap": "/vrpn/car/pose"}
    autoware = dict.fromkeys(("autoware", "auto"), "/localization/kinematic_state")
    topic = {**topics, **autoware}.get(vocabulary, "/odom")
    for it in driven.rows.odometry:
        when = at_ns(it.t_s)
        if vocabulary == "mocap":
            yield when, topic, POSE, posed(POSE, it.x_m, it.yaw_rad, when)
        else:
            yield when, topic, ODOMETRY, odom(it.x_m, it.y_m, it.yaw_rad, when)
