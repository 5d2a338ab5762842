"""Pose sources by their names, and drives by them in lockstep, through faults of the pose."""

import json
import math

import pytest
import tandem

from host_bridge.cli.main import main
from host_bridge.core.errors import DataFileFault, DeviceFault, UsageFault
from host_bridge.inputs.paths.recorded_poses import places_of
from host_bridge.mapping.poses.sources import is_computed, open_source, source_names
from tests.host_bridge.inputs.paths.test_follower import VEHICLE, following
from tests.host_bridge.mapping.poses.made_poses import Localiser
from tests.support.evidence import every

FAULT_S = 6.0  # a car is armed and at speed by then


@pytest.fixture
def line(tmp_path):
    path = tmp_path / "line.csv"
    path.write_text("x_m,y_m\n0,0\n40,0\n")
    return path


def drive(capsys, line, pose, fault="", seconds=9):
    uri = f"sim://f1tenth?seed=3{fault and f'&fault={fault}@{FAULT_S}s'}"
    words = ["drive", uri, "--lockstep", "--input", f"path:{line}?pose={pose}"]
    code = main([*words, "--speed", "1.5", "--seconds", str(seconds), "--json"])
    printed = capsys.readouterr()
    summary = [json.loads(it) for it in printed.out.splitlines()][-1]["summary"]
    return code, summary, printed.out + printed.err


def test_all_of_the_issue_are_there():
    assert {"odometry", "truth", "localise", "ros", "tf", "mocap"} <= set(source_names())


@pytest.mark.parametrize(
    ("text", "computed"),
    [("odometry", True), ("truth", True), ("localise:a.yaml", True), ("truth:run.jsonl", False),
     ("ros:/pose", False), ("/tmp/poses", False)],
)  # fmt: skip
def test_lockstep_takes_only_what_keeps_its_time(text, computed):
    assert is_computed(text) is computed
    assert following(pose="odometry").is_computed


@pytest.mark.parametrize(
    ("text", "words"),
    [("trtuh:x", "did you mean truth"), ("gps:/dev/ttyUSB0", "odometry or ros:"),
     ("truth", "not in this program"), ("localise:lab.yaml", "a program of its own"),
     ("ros:pose", "which topic"), ("tf:map", "which transform"), ("mocap:a b", "rigid body")],
)  # fmt: skip
def test_what_is_no_source_here_is_told_with_what_is(text, words):
    with pytest.raises(UsageFault) as told:
        following(pose=text)
    assert words in str(told.value)


def test_a_car_is_driven_by_its_true_pose(capsys, line):
    code, summary, _ = drive(capsys, line, "truth")
    figures = summary["path"]["pose"]
    assert code == 0
    assert figures["poses"] > 100
    assert figures["oldest_s"] < 0.1
    assert figures["frame"] == "map"


@pytest.mark.parametrize(
    ("fault", "words"),
    [("pose_freezes", "moved apart"), ("pose_jumps:left_m=0.5", "jumped"),
     ("pose_jumps:left_m=0,turned_deg=20", "jumped"), ("pose_lags:ms=800", "s old, at most 0.5"),
     ("pose_lags:ms=200", ""), ("pose_jumps:left_m=0.05", "")],
)  # fmt: skip
def test_a_fault_of_the_pose_stops_the_follower_by_the_stated_rule(capsys, line, fault, words):
    code, _, said = drive(capsys, line, "truth", fault)
    assert (words in said and code == 1) if words else code == 0, said[-400:]


def test_the_poses_of_a_served_car_have_the_same_faults(tmp_path):
    poses = tmp_path / "poses.jsonl"
    uri = f"sim://f1tenth?located={poses}&fault=pose_jumps:left_m=0.5@5s"
    with tandem.open(uri, lockstep=True) as car:
        car.arm()
        for _ in car.ticks(4.0):
            car.drive(0.5)
    rows = [json.loads(it) for it in poses.read_text().splitlines()]
    before = [it for it in rows if it["taken_s"] < 4.9]
    after = [it for it in rows if it["taken_s"] > 5.1]
    assert every(abs(it["y_m"]) < 0.1 for it in before)
    assert every(abs(it["y_m"] - 0.5) < 0.1 for it in after)
    assert every(it["frame"] == "map" and it["is_lost"] is False for it in rows)


def test_a_script_sees_where_its_car_is_and_is_told_of_a_pose_that_jumps():
    with tandem.open("sim://f1tenth?fault=pose_jumps:left_m=0.5@6s", lockstep=True) as car:
        with pytest.raises(UsageFault, match="nobody says"):
            _ = car.located
        car.locate_by("truth")
        car.arm()
        seen, said = None, ""
        for _ in car.ticks(6.0):
            car.drive(0.5)
            try:
                seen = car.located or seen
            except DeviceFault as fault:
                said = str(fault)
                break
        assert "jumped" in said
        truth = car.truth()
    assert seen.frame == "map"
    assert seen.age_s < 0.2
    assert math.dist((seen.x_m + VEHICLE.turns_behind_centre_m, seen.y_m),
                     (truth.x_m, truth.y_m)) < 0.1  # fmt: skip


def test_a_script_needs_no_source_for_dead_reckoning():
    with (
        tandem.open("sim://nigel", lockstep=True) as car,
        pytest.raises(UsageFault, match="needs no source"),
    ):
        car.locate_by("odometry")


def test_a_recorded_localisers_poses_are_places_of_the_turning_point(tmp_path):
    localiser = Localiser(tmp_path / "poses.jsonl")
    localiser.says(1_000_000, 1.0, 2.0, math.pi / 2)
    localiser.says(2_000_000, 9.0, 9.0, is_lost=True)
    (place,) = places_of(str(localiser.path), 0.16)
    assert place == pytest.approx((1.0, 1.0, 1.84))
    localiser.writes('{"sensor": "pose", "taken_s": 3}\n')
    with pytest.raises(DataFileFault, match="x_m"):
        places_of(str(localiser.path), 0.16)
    with pytest.raises(UsageFault, match="in a file"):
        places_of("ros:/pose", 0.16)


def test_no_source_at_all_is_the_odometry():
    assert open_source("odometry", None) is None


def test_a_file_without_poses_is_refused(tmp_path):
    file = tmp_path / "lab.yaml"
    file.write_text("image: lab.pgm\n", encoding="utf-8")
    with pytest.raises(DataFileFault, match="there are no poses in it"):
        places_of(str(file), 0.16)


def test_a_misspelt_source_is_told_before_anything_else(line, capsys):
    uri = "sim://f1tenth"
    path = f"path:{line}?pose=localize:lab.yaml"
    assert main(["drive", uri, "--lockstep", "--input", path]) == 2
    said = capsys.readouterr().err
    assert "unknown source of poses 'localize'" in said
    assert "did you mean localise?" in said
