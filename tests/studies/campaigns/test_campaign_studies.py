"""The studies that are campaigns: whole files, caps that follow from leases, a slice of each."""

from __future__ import annotations

import json
from itertools import islice, product
from math import floor
from pathlib import Path

import pytest

from host_bridge.cli.main import main
from host_bridge.drive.lockstep.campaign import course
from host_bridge.drive.lockstep.campaign.case import run_case
from host_bridge.drive.lockstep.campaign.plan import read_plan
from host_bridge.sharing.services import make_host
from tests.support.evidence import every, some

HERE = Path(__file__).parent
STUDIES = {"lossy_link": 10_000, "emergency_braking": 12_800}  # cases
SLICE = {
    ("A", "clear", "12 h"): "passed",
    ("A", "clear", "0 h"): "passed",
    ("A", "thick fog", "0 h"): "failed",
    ("D", "thick fog", "0 h"): "failed",
}
LEASE, CAP = (f"vehicle_changes.sources.script.{key}" for key in ("lease_s", "speed_cap_mps"))


@pytest.mark.parametrize("name", STUDIES)
def test_a_study_has_as_many_cases_as_its_page_says(name, monkeypatch):
    monkeypatch.chdir(HERE.parents[2])  # where its command is to be given
    plan = read_plan(HERE / f"{name}.toml")
    assert plan.count() == STUDIES[name]


def test_caps_are_the_lower_of_the_source_s_own_and_blind_distance_over_lease():
    plan = read_plan(HERE / "lossy_link.toml")
    vehicle = make_host().vehicles.load(plan.case["vehicle"])
    (own_mps,) = (it.speed_cap_mps for it in vehicle.sources if it.name == "script")
    for level in some(plan.sets["lease"].values()):
        by_lease_mps = floor(vehicle.blind_m / level[LEASE] * 100.0 + 1e-9) / 100.0
        assert level[CAP] == min(own_mps, by_lease_mps)


def test_cells_that_no_car_can_drive_are_those_above_their_cap():
    plan = read_plan(HERE / "lossy_link.toml")
    found = course._impossible(plan, make_host().vehicles)
    above = {
        (lease, speed)
        for (lease, level), speed in product(plan.sets["lease"].items(), plan.factors["speed_mps"])
        if speed > level[CAP]
    }
    listed = {(cell["lease"], cell["speed_mps"]) for cell in map(json.loads, found)}
    assert listed == above
    assert len(found) == len(above) * 8 * 2


@pytest.mark.process
@pytest.mark.exhaustive  # some seconds a cell
@pytest.mark.timeout(600)
def test_a_slice_of_the_lossy_link_says_what_it_ought_to(tmp_path):
    folder = tmp_path / "lossy_link"
    assert main(["campaign", "new", str(folder), "--from", str(HERE / "lossy_link.toml")]) == 0
    file = folder / "campaign.toml"
    text = file.read_text(encoding="utf-8").replace("repetitions = 25", "repetitions = 1")
    text = text.replace("0.0, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6", "0.0, 0.6")
    file.write_text(text.replace("levels = 5", "levels = 2"), encoding="utf-8")
    assert main(["campaign", "run", str(folder), "--workers", "2"]) == 0
    rows = [json.loads(line) for line in (folder / "rows.jsonl").read_text().splitlines()]
    assert len(rows) == 40
    calm = [
        row
        for row in rows
        if row["levels"]["link_loss"] == 0.0 and row["levels"]["fault"] == "none"
    ]
    assert every(row["outcome"] in ("passed", "refused") for row in calm)
    due = [row for row in rows if row["levels"]["fault"] != "none" and row["outcome"] != "refused"]
    assert every(row["claim_to_rest_m"] >= row["stop_m"] > 0.0 for row in due)
    short = [
        row
        for row in rows
        if (row["levels"]["link_loss"], row["levels"]["lease"]) == (0.6, "0.06 s")
        and row["levels"]["fault"] == "none"
    ]
    assert every(row["outcome"] == "failed" and row["stops"] == 1 for row in short)
    assert "Cells that no car can drive" in (folder / "report.html").read_text()


@pytest.mark.process
@pytest.mark.exhaustive  # some seconds a cell
@pytest.mark.timeout(600)
def test_a_slice_of_emergency_braking_says_what_it_ought_to(tmp_path, monkeypatch):
    monkeypatch.chdir(HERE.parents[2])
    plan = read_plan(HERE / "emergency_braking.toml")
    assert {name: len(levels) for name, levels in plan.factors.items()} == {
        "detector": 4,
        "weather": 8,
        "time": 4,
    }
    files, found = make_host().vehicles, {}
    for case in islice(plan.cases(), 128):
        levels = case.levels["detector"], case.levels["weather"], case.levels["time"]
        if levels in SLICE:
            row = run_case(case.spec, files)
            found[levels] = row["outcome"], row["top_mps"] > 6.0, row["obstacle_left_m"]
    assert found.keys() == SLICE.keys()
    assert {levels: it[0] for levels, it in found.items()} == SLICE
    assert every(it[1] for it in found.values()), "it drove as fast as the study says"
    assert found["A", "clear", "12 h"][2] > found["A", "clear", "0 h"][2] > 5.0
