"""Lists and samples in a campaign's file, oracles with a limit, and its rows as one table."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest

from host_bridge.cli.main import main
from host_bridge.core.errors import DataFileFault
from host_bridge.drive.lockstep.campaign.case import run_case
from host_bridge.drive.lockstep.campaign.judging.analysis import analyse
from host_bridge.drive.lockstep.campaign.judging.export import table_of, unit_of, write_parquet
from host_bridge.drive.lockstep.campaign.judging.report import html_of
from host_bridge.drive.lockstep.campaign.plan import read_plan
from host_bridge.drive.lockstep.campaign.spec import case_id
from host_bridge.drive.lockstep.campaign.store import RowWriter
from host_bridge.sharing.services import make_host
from sim_mock.bodies import trust
from tests.host_bridge.drive.lockstep.campaign import keys_page
from tests.support.evidence import every, some

HEAD = """\
[campaign]
title = "Samples"
seed = 4
[case]
vehicle = "nigel"
duration_s = 1.0
[oracles]
no_stop = true
"""
UNCERTAIN = """
[uncertain]
payload_kg = { mean = 0.3, sd = 0.1, low = 0.0, high = 0.6 }
"vehicle_changes.plant.tyre.mu" = { low = 0.5, high = 1.0 }
start_y_m = { median = 0.1, factor = 2.0, high = 0.4 }
[design]
kind = "KIND"
samples = 16
"""


def plan_of(folder, text):
    (folder / "campaign.toml").write_text(text, encoding="utf-8")
    return read_plan(folder / "campaign.toml")


@pytest.mark.parametrize("kind", ["latin", "sobol", "random"])
def test_samples_are_within_their_distributions_and_the_same_each_time(tmp_path, kind):
    text = HEAD + UNCERTAIN.replace("KIND", kind)
    plan = plan_of(tmp_path, text)
    cases = list(plan.cases())
    assert plan.count() == len(cases) == 16
    assert [case.spec for case in cases] == [
        case.spec for case in read_plan(tmp_path / "campaign.toml").cases()
    ]
    other = plan_of(tmp_path, text.replace("seed = 4", "seed = 5"))
    assert cases[0].spec["payload_kg"] != next(other.cases()).spec["payload_kg"]
    masses = [case.spec["payload_kg"] for case in cases]
    grips = [case.spec["vehicle_changes"]["plant.tyre.mu"] for case in cases]
    starts = [case.spec["start_y_m"] for case in cases]
    assert every(0.0 <= it <= 0.6 for it in masses)
    assert every(0.5 <= it <= 1.0 for it in grips)
    assert every(0.0 < it <= 0.4 for it in starts)
    assert len({case_id(case.spec) for case in cases}) == 16
    if kind == "latin":  # one in each sixteenth
        assert sorted(int((it - 0.5) * 32) for it in grips) == list(range(16))


def test_cells_share_their_samples_so_that_they_are_pairs(tmp_path):
    factors = "[factors]\nspeed_mps = [0.2, 0.3]\n"
    plan = plan_of(tmp_path, HEAD + factors + UNCERTAIN.replace("KIND", "latin"))
    assert plan.count() == 32
    first, second = list(plan.cases())[:2]
    assert first.spec["speed_mps"] != second.spec["speed_mps"]
    assert first.sample == second.sample
    assert first.spec["seed"] == second.spec["seed"]


def test_a_list_has_its_own_cells(tmp_path):
    text = HEAD + '[design]\nkind = "list"\ncases = [{ speed_mps = 0.2, fault = "none" }, '
    plan = plan_of(tmp_path, text + '{ speed_mps = 0.3, fault = "runstop@2s" }]\n')
    assert [case.levels for case in plan.cases()] == [
        {"speed_mps": 0.2, "fault": "none"},
        {"speed_mps": 0.3, "fault": "runstop@2s"},
    ]
    assert plan.count() == 2
    assert plan.factors == {"speed_mps": (0.2, 0.3), "fault": ("none", "runstop@2s")}


@pytest.mark.parametrize(
    ("old", "new", "what"),
    [
        ("samples = 16", "samples = 12", "a power of 2"),
        ('kind = "sobol"', 'kind = "sobel"', "no such design"),
        ('kind = "sobol"\nsamples = 16', 'kind = "grid"', "samples are of what is"),
        ("low = 0.5, high = 1.0", "low = 1.5, high = 1.0", "low is not below high"),
        ("low = 0.5, high = 1.0", "lo = 0.5", "no distribution"),
        ("payload_kg", "payload_k", "did you mean payload_kg"),
        ("high = 0.6", "high = 6000.0", "payload_kg"),
        ("seed = 4", "seed = 4\nrepetitions = 2", "each sample is one"),
        ("no_stop = true", "stops_within_m = -1.0", r"oracles.stops_within_m"),
        ("no_stop = true", "stop_within_m = 1.0", "did you mean stops_within_m"),
    ],
)
def test_a_wrong_design_is_refused_with_its_place(tmp_path, old, new, what):
    text = HEAD + UNCERTAIN.replace("KIND", "sobol")
    assert old in text
    with pytest.raises(DataFileFault, match=what):
        plan_of(tmp_path, text.replace(old, new, 1))


def test_a_cell_that_differs_in_its_keys_is_refused(tmp_path):
    text = HEAD + '[design]\nkind = "list"\ncases = [{ speed_mps = 0.2 }, { fault = "none" }]\n'
    with pytest.raises(DataFileFault, match="the same keys"):
        plan_of(tmp_path, text)


def rows_of(plan):
    files = make_host().vehicles
    return [
        {
            "code": "c",
            "index": case.index,
            "levels": dict(case.levels),
            "sample": dict(case.sample),
            "repetition": case.repetition,
            **run_case(case.spec, files),
        }
        for case in plan.cases()
    ]


def test_oracles_with_a_limit_judge_figures_of_the_row(tmp_path):
    bounds = "distance_at_least_m = 0.05\nstops_within_m = 0.001\nlaps_at_least = 1.0\n"
    text = HEAD.replace("no_stop = true\n", "no_spurious_stop = true\n" + bounds)
    text += '[factors]\nfault = ["none", "runstop@3s"]\n[report]\ncompare = "fault"\n'
    plan = plan_of(tmp_path, text.replace("duration_s = 1.0", "duration_s = 2.0"))
    calm, stopped = rows_of(plan)
    assert calm["oracles"] == {
        "no_spurious_stop": True,
        "distance_at_least_m": True,
        "stops_within_m": None,  # it did not stop
        "laps_at_least": False,
    }
    assert stopped["oracles"]["no_spurious_stop"] is None  # a fault was asked for
    assert stopped["oracles"]["stops_within_m"] is False
    assert 0.001 < stopped["stop_m"] < 0.5
    assert stopped["stop_s"] > 0.0


def test_rows_become_one_table_with_units(tmp_path, capsys):
    plan = plan_of(tmp_path, HEAD + UNCERTAIN.replace("KIND", "latin").replace("16", "4"))
    rows = [{**row, "code": "c"} for row in rows_of(plan)]
    writer = RowWriter(tmp_path)
    for row in rows:
        writer.write(row)
    writer.close()
    found = analyse(plan, rows)
    assert [it.key for it in found.sampled] == list(plan.uncertain)
    assert "Spearman" in html_of(plan, found, tmp_path, "c")
    table = table_of(rows[::-1])
    assert table["index"] == [0, 1, 2, 3]
    assert len(some(table["sample.payload_kg"])) == 4
    assert json.loads(table["spec"][0])["vehicle"] == "nigel"
    assert (unit_of("sample.payload_kg"), unit_of("top_mps"), unit_of("why")) == ("kg", "m/s", "")
    assert main(["campaign", "export", str(tmp_path), "--csv"]) == 0
    with (tmp_path / "rows.csv").open(encoding="utf-8", newline="") as file:
        read = list(csv.DictReader(file))
    assert [row["case_id"] for row in read] == table["case_id"]
    assert [float(row["distance_m"]) for row in read] == table["distance_m"]
    assert "4 of 4 cases" in capsys.readouterr().out
    mine = tmp_path / "mine.csv"
    mine.write_text("three years of work")
    refused = main(["campaign", "export", str(tmp_path), "--csv", "-o", str(mine)])
    assert refused == DataFileFault.exit_code
    assert mine.read_text() == "three years of work"
    assert main(["campaign", "export", str(tmp_path), "--csv"]) == 0, "its own, made anew"


def test_parquet_has_units_and_is_read_by_others(tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet", reason="the extra campaign is not installed")
    rows = [
        {
            "case_id": "b",
            "code": "c",
            "index": 1,
            "outcome": "passed",
            "top_mps": 2,
            "levels": {"speed_mps": 1.0},
        },
        {
            "case_id": "a",
            "code": "c",
            "index": 0,
            "outcome": "failed",
            "top_mps": 1.5,
            "levels": {"speed_mps": 0.5},
        },
    ]
    write_parquet(rows, tmp_path / "rows.parquet", {"code": "c"})
    read = parquet.read_table(tmp_path / "rows.parquet")
    assert read.column("case_id").to_pylist() == ["a", "b"]
    assert read.column("top_mps").to_pylist() == [1.5, 2.0]
    assert read.schema.field("levels.speed_mps").metadata == {b"unit": b"m/s"}
    assert read.schema.metadata[b"code"] == b"c"
    assert np.isclose(read.column("levels.speed_mps").to_numpy().sum(), 1.5)


FUNCTION = """
class Slow:
    def __init__(self):
        self.calls = 0

    def __call__(self, t_s, observed):
        self.calls += 1
        return 0.2 if self.calls < 100 else 0.0, 0.1
"""


def test_a_function_is_a_controller_once_its_file_is_trusted(tmp_path, monkeypatch):
    monkeypatch.setattr(trust, "_trusted", set())
    file = tmp_path / "mine.py"
    file.write_text(FUNCTION, encoding="utf-8")
    text = HEAD.replace("duration_s", f'controller = "python:{file}:Slow"\nduration_s')
    plan = plan_of(tmp_path, text)
    (refused,) = rows_of(plan)
    assert refused["outcome"] == "refused"
    assert "--trust-code" in refused["why"]
    trust.trust(file)
    first, second = rows_of(plan), rows_of(plan)
    assert first[0]["outcome"] == "passed"
    assert first[0]["distance_m"] > 0.1
    assert first[0]["result_hash"] == second[0]["result_hash"]
    assert list(first[0]["spec"]["files"]) == [str(file)]


def test_the_page_of_keys_is_made_of_the_schema():
    written = keys_page.PAGE.read_text(encoding="utf-8")
    command = "python -m tests.host_bridge.drive.lockstep.campaign.keys_page --write"
    assert written == keys_page.page(), command
    assert "| `stops_within_m` | a number from 0 to 1000 metres;" not in written
    assert "| `speed_mps` | a number from 0.05 to 60 metres per second; as `--speed` |" in written
