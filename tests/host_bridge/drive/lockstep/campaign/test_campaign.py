"""A campaign: pure cases, a strict file, rows that survive a kill, and a report with intervals."""

from __future__ import annotations

import json
import signal
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from host_bridge.cli.main import main
from host_bridge.core.errors import DataFileFault, UsageFault
from host_bridge.drive.lockstep.campaign import course
from host_bridge.drive.lockstep.campaign.case import run_case, uri_of
from host_bridge.drive.lockstep.campaign.judging.analysis import analyse
from host_bridge.drive.lockstep.campaign.judging.intervals import paired, share
from host_bridge.drive.lockstep.campaign.judging.report import html_of, latex_of, summary
from host_bridge.drive.lockstep.campaign.plan import Case, read_plan
from host_bridge.drive.lockstep.campaign.runners import processes as running
from host_bridge.drive.lockstep.campaign.spec import canonical, case_id
from host_bridge.drive.lockstep.campaign.store import (
    ROWS,
    RowWriter,
    folder_of,
    is_running,
    locked,
    read_rows,
)
from host_bridge.drive.lockstep.campaign.template import TEMPLATE
from host_bridge.sharing.services import make_host
from sim_mock.programs import children
from tests.support import patience
from tests.support.evidence import some

SMALL = """\
[campaign]
title = "Does an open runstop <stop> it?"
repetitions = 2
[case]
vehicle = "nigel"
duration_s = 1.0
[factors]
fault = ["none", "runstop@2s"]
[oracles]
no_stop = true
completed = true
[report]
compare = "fault"
"""


DRIVE = "t_s,channel,value_norm\n0,throttle,0.3\n1,throttle,0.3\n"


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "campaign.toml").write_text(SMALL, encoding="utf-8")
    return tmp_path


def plan_of(folder, text):
    (folder / "campaign.toml").write_text(text, encoding="utf-8")
    return read_plan(folder / "campaign.toml")


def rows_of(plan, code="c"):
    files = make_host().vehicles
    return [
        {
            **run_case(case.spec, files),
            "code": code,
            "levels": case.levels,
            "repetition": case.repetition,
        }
        for case in plan.cases()
    ]


def test_a_spec_has_one_canonical_form():
    assert canonical({"b": -0.0, "a": {"y": 1, "x": 2.5}}) == '{"a":{"x":2.5,"y":1},"b":0.0}'
    assert case_id({"a": 1, "b": 2}) == case_id({"b": 2, "a": 1}) != case_id({"a": 1, "b": 3})
    with pytest.raises(ValueError, match="not finite"):
        canonical({"a": float("nan")})


def test_the_template_is_a_campaign(tmp_path):
    plan = plan_of(tmp_path, TEMPLATE)
    assert plan.count() == len(list(plan.cases())) == 30
    specs = [case.spec for case in plan.cases()]
    assert len({case_id(spec) for spec in specs}) == 30
    assert {spec["speed_mps"] for spec in specs} == {1.0, 2.0}
    assert len({spec["seed"] for spec in specs[:6]}) == 1  # all cells of a repetition


@pytest.mark.parametrize(
    ("old", "new", "what"),
    [
        ("duration_s = 1.0", "duration_ms = 1", r"campaign.toml:6, case.duration_ms"),
        ("duration_s = 1.0", "duration_s = 0.0", r":6, case.duration_s"),
        ("fault = [", "vault = [", "did you mean fault"),
        ('"runstop@2s"]', "3]", r":8, factors.fault"),
        ('"runstop@2s"]', '"none"]', "twice"),
        ("no_stop = true", "no_stop = 1", r":10, oracles.no_stop"),
        ("no_stop = true\ncompleted = true", "no_stop = false", "nothing is judged"),
        ('compare = "fault"', 'compare = "speed_mps"', "is no factor"),
        ("repetitions = 2", "repetitions = 900000", "too many cases"),
        ('vehicle = "nigel"', 'vehicle = "nigel"\ntrack = "oval"\nmap = "a.yaml"', "one of them"),
        ("[report]", "[reports]", "reports"),
    ],
)
def test_a_wrong_file_is_refused_with_its_place(folder, old, new, what):
    assert old in SMALL
    with pytest.raises(DataFileFault, match=what):
        plan_of(folder, SMALL.replace(old, new))


def test_a_case_is_a_pure_function_and_its_oracles_judge(folder):
    plan = read_plan(folder / "campaign.toml")
    first, second = rows_of(plan), rows_of(plan)
    assert [row["result_hash"] for row in first] == [row["result_hash"] for row in second]
    assert len({row["trace"] for row in first}) == 4
    assert [row["outcome"] for row in first] == ["passed", "failed"] * 2
    assert "no_stop" in first[1]["why"]
    assert "the stop loop was open" in first[1]["why"]
    assert first[0]["distance_m"] > 0.1


def test_a_car_that_cannot_drive_is_refused_and_in_no_denominator(folder):
    plan = plan_of(folder, SMALL.replace('"runstop@2s"', '"runstop@0.1s", "no_such_fault"'))
    rows = rows_of(plan)
    assert [row["outcome"] for row in rows[:3]] == ["passed", "refused", "refused"]
    assert "no_such_fault" in rows[2]["why"]
    found = analyse(plan, rows)
    assert (found.overall.total, found.cells[2].left_out) == (2, 2)
    assert "4 refused, in no denominator" in summary(plan, found)


def test_a_key_of_the_vehicle_file_is_a_factor(folder):
    key = '"vehicle_changes.sources.script.lease_s" = [0.06, 0.12]'
    plan = plan_of(
        folder, SMALL.replace('fault = ["none", "runstop@2s"]', key).split("[report]")[0]
    )
    changes = [case.spec["vehicle_changes"] for case in plan.cases()]
    assert changes[:2] == [{"sources.script.lease_s": 0.06}, {"sources.script.lease_s": 0.12}]
    rows = rows_of(replace(plan, repetitions=1))
    assert [row["outcome"] for row in rows] == ["passed", "passed"]


def test_a_file_that_changed_since_is_refused(folder):
    drive = folder / "drive.csv"
    drive.write_text(DRIVE, encoding="utf-8")
    text = SMALL.replace("duration_s = 1.0", f'duration_s = 1.0\ncontroller = "csv:{drive}"')
    case = next(plan_of(folder, text).cases())
    assert list(case.spec["files"]) == [str(drive)]
    assert run_case(case.spec, make_host().vehicles)["distance_m"] > 0.1
    drive.write_text(DRIVE.replace("0.3", "0.2"), encoding="utf-8")
    with pytest.raises(DataFileFault, match="has changed"):
        run_case(case.spec, make_host().vehicles)


def test_uris_carry_what_people_write():
    spec = next(read_plan_text().cases()).spec
    assert "start=1.0,0.0,90.0" in uri_of({**spec, "start_x_m": 1.0, "start_yaw_deg": 90.0})


def read_plan_text():
    from pathlib import Path
    from tempfile import TemporaryDirectory

    with TemporaryDirectory() as name:
        return plan_of(Path(name), SMALL)


def test_intervals_are_the_known_ones():
    of_none = share(0, 128, 0.95)
    assert of_none.most == pytest.approx(0.0231, abs=5e-4)  # "0 of 128: at most 2.3 %"
    assert of_none.high == pytest.approx(0.0291, abs=5e-4)
    some_failed = share(10, 1000, 0.95)
    assert (some_failed.low, some_failed.high) == pytest.approx((0.0054, 0.0183), abs=1e-4)
    assert share(3, 3, 0.95).most == 1.0
    assert share(0, 0, 0.95).high == 1.0
    apart = paired([(True, False)] * 6 + [(True, True)] * 3)
    assert (apart.only_first, apart.only_second) == (6, 0)
    assert apart.p_value == pytest.approx(2 / 64)


def test_the_report_asks_the_network_for_nothing_and_names_the_worst(folder):
    plan = read_plan(folder / "campaign.toml")
    rows = rows_of(plan)
    found = analyse(plan, rows)
    page = html_of(plan, found, folder, "c")
    assert "http" not in page
    assert "src=" not in page
    assert "&lt;stop&gt;" in page
    assert f"tandem campaign show {folder} {found.worst[0]['case_id']}" in page
    assert found.comparisons[0].result.only_second == 2
    assert r"$2/2$" in latex_of(plan, found, "c")


def test_a_torn_line_is_dropped_and_a_damaged_one_is_named(tmp_path):
    writer = RowWriter(tmp_path)
    writer.write({"case_id": "a", "code": "c", "outcome": "passed"})
    writer.close()
    with (tmp_path / ROWS).open("ab") as file:
        file.write(b'{"case_id":"b","co')
    assert list(read_rows(tmp_path)) == ["a"]
    writer = RowWriter(tmp_path)
    writer.write({"case_id": "c", "code": "d", "outcome": "passed"})
    writer.close()
    assert list(read_rows(tmp_path)) == ["a", "c"]
    assert list(read_rows(tmp_path, "d")) == ["c"]
    with (tmp_path / ROWS).open("ab") as file:
        file.write(b"{}\n")
    with pytest.raises(DataFileFault, match=r"rows.jsonl:3"):
        read_rows(tmp_path)


def test_two_programs_cannot_write_one_campaign(tmp_path):
    with locked(tmp_path):
        assert is_running(tmp_path)
        with pytest.raises(UsageFault, match="running already"), locked(tmp_path):
            pass
    assert not is_running(tmp_path)


def test_a_new_campaign_overwrites_none(tmp_path, capsys):
    assert main(["campaign", "new", str(tmp_path / "link")]) == 0
    assert main(["campaign", "new", str(tmp_path / "link")]) == 7
    assert main(["campaign", "status", str(tmp_path)]) == 2
    assert "tandem campaign new" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ('"sources.skript.lease_s" = 0.1', "there is no such table"),
        ('"sources.script.lease_s" = 9.0', "lease_s"),
        ('"sources.script.leese_s" = 0.1', "did you mean lease_s"),
    ],
)
def test_a_wrong_change_of_the_vehicle_ends_the_run_before_its_first_case(
    folder, capsys, change, what
):
    text = SMALL.replace("duration_s = 1.0", f"duration_s = 1.0\nvehicle_changes = {{ {change} }}")
    plan_of(folder, text)
    assert main(["campaign", "run", str(folder)]) == 5
    assert what in capsys.readouterr().err
    assert not (folder / ROWS).exists()


@pytest.mark.process
def test_the_command_runs_goes_on_after_a_kill_and_shows_the_same_bits(folder, capsys):
    words = children.module(
        "host_bridge.cli.main", "campaign", "run", str(folder), "--workers", "1"
    )
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL)
    patience.until(lambda: read_rows(folder), "a row", 60)
    process.send_signal(signal.SIGKILL)
    patience.wait(process, 10)
    kept = read_rows(folder)
    assert 1 <= len(kept) < 4
    assert main(["campaign", "resume", str(folder), "--json"]) == 0
    assert json.loads(capsys.readouterr().out.splitlines()[-1])["done"] == 4
    rows = read_rows(folder)
    assert len(rows) == 4
    assert {id_: rows[id_] for id_ in some(kept)} == kept  # nothing was run again
    assert (folder / course.REPORT).read_text(encoding="utf-8").startswith("<!doctype html>")
    for id_ in rows:
        assert main(["campaign", "show", str(folder), id_]) == 0  # in this process: the same bits


@pytest.mark.process
def test_a_case_that_takes_too_long_is_not_measured_and_the_next_one_is(folder, monkeypatch):
    monkeypatch.setattr(running, "_STARTS_S", 9.0)  # with the first second, for the second case too
    spec = next(read_plan(folder / "campaign.toml").cases()).spec
    rows = []
    long = Case(0, {}, 0, {**spec, "duration_s": 3000.0})
    running.CaseRunner([long, Case(1, {}, 0, spec)], "c", 1, 1.0).run(rows.append, lambda: None)
    assert [row["outcome"] for row in rows] == ["not_measured", "passed"]
    assert rows[0]["why"] == "no result within 10 s, 2 times"


def test_a_folder_that_is_no_campaign_is_told_with_the_one_that_may_be_meant(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    there = tmp_path / "link" / "campaign.toml"
    there.parent.mkdir()
    there.write_text(SMALL, encoding="utf-8")
    (tmp_path / "empty").mkdir()
    said = {
        "lnk": "lnk: there is no such folder\n  expected: the folder of a campaign\n"
        "  remedy: did you mean link?",
        "studies/link/campaign.toml": "studies/link: there is no such folder",
        "empty": "empty: there is no campaign.toml in it",
        "link/campaign.toml/x": "remedy: tandem campaign new link/campaign.toml/x",
        "my study": "remedy: tandem campaign new 'my study'",
    }
    for name, words in said.items():
        with pytest.raises(UsageFault) as fault:
            course.open_plan(folder_of(Path(name)))
        assert words in str(fault.value)
    (tmp_path / "other.toml").write_text(SMALL, encoding="utf-8")
    with pytest.raises(UsageFault) as fault:
        course.open_plan(Path("other.toml"))
    assert "this is a file" in str(fault.value)
    assert "remedy: tandem campaign new FOLDER --from other.toml" in str(fault.value)


def test_a_campaign_is_named_by_its_file_too(folder, capsys):
    assert main(["campaign", "status", str(folder / "campaign.toml")]) == 0
    assert main(["campaign", "new", str(folder / "campaign.toml")]) == 7
    assert "there is such a file already" in capsys.readouterr().err
