"""Campaigns and ``tandem faults`` with poses at fault, and a localiser in lockstep."""

import numpy as np
import pytest

from host_bridge.config import load_vehicle
from host_bridge.core.errors import DataFileFault
from host_bridge.drive.lockstep.campaign.case import run_case
from host_bridge.drive.lockstep.campaign.plan import read_plan
from host_bridge.drive.lockstep.follower_faults import cases, run
from host_bridge.mapping.occupancy import FREE, OCCUPIED, OccupancyMap, write_map
from host_bridge.sharing.services import make_host
from tests.support.evidence import some

CAMPAIGN = """\
[campaign]
title = "Which pose stops a follower?"
[case]
vehicle = "f1tenth"
controller = "path:{line}"
duration_s = 5.0
speed_mps = 1.5
pose = "truth"
[factors]
fault = ["none", "pose_jumps@5s", "pose_freezes@5s", "pose_lags@5s"]
[oracles]
no_stop = true
"""


@pytest.fixture
def line(tmp_path):
    path = tmp_path / "line.csv"
    path.write_text("x_m,y_m\n0,0\n20,0\n")
    return path


def rows_of(tmp_path, text):
    file = tmp_path / "campaign.toml"
    file.write_text(text)
    files = make_host().vehicles
    return [(case.levels, run_case(case.spec, files)) for case in read_plan(file).cases()]


def test_a_campaign_names_the_source_of_the_pose_and_its_faults(tmp_path, line):
    rows = rows_of(tmp_path, CAMPAIGN.format(line=line))
    outcomes = {levels["fault"]: row["outcome"] for levels, row in rows}
    assert outcomes == {"none": "passed", "pose_jumps@5s": "failed", "pose_freezes@5s": "failed",
                        "pose_lags@5s": "failed"}  # fmt: skip


@pytest.mark.parametrize("controller", ["script:slalom", "path:{line}?pose=truth"])
def test_a_pose_for_who_follows_none_is_refused(tmp_path, line, controller):
    text = CAMPAIGN.replace("path:{line}", controller).format(line=line)
    ((_, row), *_) = rows_of(tmp_path, text)
    assert row["outcome"] == "refused"
    assert "pose is for a path: controller" in row["why"]


def test_a_map_that_a_localiser_needs_is_named_in_the_spec(tmp_path, line):
    text = CAMPAIGN.replace('"truth"', f'"localise:{tmp_path}/lab.yaml"').format(line=line)
    with pytest.raises(DataFileFault, match=r"lab\.yaml"):
        rows_of(tmp_path, text)


def test_a_localiser_in_lockstep_corrects_what_odometry_gets_wrong(tmp_path, line):
    """A room of 20 by 4 m: the car is put 10 cm from where it believes to be, and finds it out."""
    cells = np.full((90, 410), OCCUPIED, np.uint8)
    cells[5:85, 5:405] = FREE
    write_map(tmp_path / "room.yaml", OccupancyMap(cells, 0.05, np.array((-0.25 - 2.0, -2.25))))
    line.write_text("x_m,y_m\n0,0\n8,0\n")
    text = f"""\
[campaign]
title = "odometry or localiser"
[case]
vehicle = "f1tenth"
map = "{tmp_path}/room.yaml"
controller = "path:{line}?at=0,0,0"
start_y_m = 0.1
duration_s = 9.0
speed_mps = 1.0
[factors]
pose = ["odometry", "localise:{tmp_path}/room.yaml"]
[oracles]
completed = true
"""
    rows = rows_of(tmp_path, text)
    assert [row["outcome"] for _, row in rows] == ["passed", "passed"], rows
    by_odometry, localised = (row["path_error_max_m"] for _, row in rows)
    assert by_odometry < 0.03, "it believes to be on its line"
    assert localised > 0.08, "it sees where it was put"


@pytest.mark.parametrize("case", [it.id for it in cases()])
def test_a_follower_stops_by_the_stated_rule(case):
    result = run(case, load_vehicle("f1tenth_vesc"), 3)
    assert result.held, result.wrong


@pytest.mark.exhaustive(as_a_whole=True)  # every vehicle: minutes; the test above has one
@pytest.mark.parametrize("vehicle", make_host().vehicles.names())
def test_every_vehicle_stops_by_the_stated_rule(vehicle):
    for case in some(cases()):
        for seed in range(3):
            result = run(case.id, load_vehicle(vehicle), seed)
            assert result.held, (case.id, seed, result.wrong)


def test_another_runtime_or_case_is_refused():
    with pytest.raises(LookupError, match="in this process only"):
        run("pose-jumps", load_vehicle("nigel"), 0, "micropython")
    with pytest.raises(LookupError, match="no case"):
        run("pose-vanishes", load_vehicle("nigel"), 0)
