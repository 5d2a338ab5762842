"""Factors whose levels set several keys, and cells that no car can drive."""

from __future__ import annotations

import json

import pytest

from host_bridge.cli.main import main
from host_bridge.core.errors import DataFileFault, VehicleFileFault
from host_bridge.drive.lockstep.campaign import course
from host_bridge.drive.lockstep.campaign.plan import read_plan
from host_bridge.sharing.services import make_host

CELLS = """\
[campaign]
title = "Leases"
[case]
vehicle = "f1tenth_vesc"
duration_s = 1.0
[factors]
speed_mps = [1.0, 3.0]
[factors.lease."0.12 s"]
"vehicle_changes.sources.script.lease_s" = 0.12
"vehicle_changes.sources.script.speed_cap_mps" = 4.0
[factors.lease."0.30 s"]
"vehicle_changes.sources.script.lease_s" = 0.3
"vehicle_changes.sources.script.speed_cap_mps" = 1.66
[design]
impossible = "list"
[oracles]
no_stop = true
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "campaign.toml").write_text(CELLS, encoding="utf-8")
    return tmp_path


def changed(folder, old, new):
    assert old in CELLS
    (folder / "campaign.toml").write_text(CELLS.replace(old, new), encoding="utf-8")
    return read_plan(folder / "campaign.toml")


def test_a_level_sets_several_keys(folder):
    plan = read_plan(folder / "campaign.toml")
    assert plan.factors == {"speed_mps": (1.0, 3.0), "lease": ("0.12 s", "0.30 s")}
    assert plan.count() == 4
    *_, last = plan.cases()
    assert last.levels == {"speed_mps": 3.0, "lease": "0.30 s"}
    assert last.spec["vehicle_changes"] == {
        "sources.script.lease_s": 0.3,
        "sources.script.speed_cap_mps": 1.66,
    }
    assert "lease" not in last.spec


LEASE, CAP = (
    '"vehicle_changes.sources.script.lease_s" = ',
    '"vehicle_changes.sources.script.speed_cap_mps" = ',
)


@pytest.mark.parametrize(
    ("old", "new", "what"),
    [
        (f"{LEASE}0.3\n", "", "the same keys"),
        (f"{LEASE}0.3\n{CAP}1.66", f"{LEASE}0.12\n{CAP}4.0", "there twice"),
        ("speed_mps = [1.0, 3.0]", f"{LEASE}[0.1, 0.2]", "set by another factor"),
        (f"{LEASE}0.12", f"{LEASE}0.12\nsped_mps = 1.0", "did you mean speed_mps"),
        ('impossible = "list"', 'impossible = "skip"', "design.impossible"),
    ],
)
def test_wrong_levels_are_refused(folder, old, new, what):
    with pytest.raises(DataFileFault, match=what):
        changed(folder, old, new)


def test_a_vehicle_that_is_refused_ends_it_unless_cells_are_listed(folder):
    plan = changed(folder, "= 1.66", "= 1.67")  # 0.3 s of that are 0.501 m
    (why,) = set(course._impossible(plan, make_host().vehicles).values())
    assert "too far blind" in why
    plan = changed(folder, 'impossible = "list"', 'impossible = "refuse"')
    assert course._impossible(plan, make_host().vehicles) == {}
    text = CELLS.replace("= 1.66", "= 1.67").replace('"list"', '"refuse"')
    (folder / "campaign.toml").write_text(text, encoding="utf-8")
    with pytest.raises(VehicleFileFault, match="too far blind"):
        course._impossible(read_plan(folder / "campaign.toml"), make_host().vehicles)


@pytest.mark.process
@pytest.mark.exhaustive  # three drives, and a case process
def test_a_cell_above_its_cap_is_listed_and_in_no_denominator(folder, capsys):
    assert main(["campaign", "run", str(folder), "--workers", "1"]) == 0
    assert "1 refused, in no denominator" in capsys.readouterr().out
    rows = [json.loads(line) for line in (folder / "rows.jsonl").read_text().splitlines()]
    (refused,) = (row for row in rows if row["outcome"] == "refused")
    assert refused["levels"] == {"speed_mps": 3.0, "lease": "0.30 s"}
    assert refused["why"] == "3 m/s: at most 1.66 m/s with these leases and caps"
    assert len(rows) == 4
    page = (folder / "report.html").read_text()
    assert "Cells that no car can drive" in page
    assert refused["why"] in page
    assert main(["campaign", "run", str(folder), "--workers", "1"]) == 0
    assert len((folder / "rows.jsonl").read_text().splitlines()) == 4, "it is told once"
