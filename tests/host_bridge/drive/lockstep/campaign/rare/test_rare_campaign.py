"""A campaign for a rare event: run, reported beside chance, shown, and right for known failures."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import islice
from pathlib import Path

import pytest

from host_bridge.cli.main import main
from host_bridge.drive.lockstep.campaign.case import run_case
from host_bridge.drive.lockstep.campaign.plan import read_plan
from host_bridge.drive.lockstep.campaign.rare.estimate import estimate
from host_bridge.drive.lockstep.campaign.runners.processes import CaseRunner
from host_bridge.drive.lockstep.campaign.spec import case_id, code_hash
from host_bridge.sharing.services import make_host
from tests.host_bridge.drive.lockstep.campaign.rare.test_branches import RARE
from tests.support.evidence import every, some

STUDY = Path(__file__).parents[5] / "studies" / "campaigns" / "rare_miss.toml"

LOOKS = 8  # in a row, each of which misses by itself


@pytest.mark.process
@pytest.mark.exhaustive  # two replicates and two cases, in case processes
def test_a_rare_event_is_told_with_its_method_beside_chance(tmp_path, capsys):
    (tmp_path / "campaign.toml").write_text(RARE, encoding="utf-8")
    assert main(["campaign", "run", str(tmp_path), "--workers", "2"]) == 0
    out = capsys.readouterr().out
    assert "By splitting it fails with a probability of" in out
    assert "of 2 judged cases failed" in out
    page = (tmp_path / "report.html").read_text()
    assert "Adaptive multilevel splitting" in page
    assert main(["campaign", "status", str(tmp_path), "--json"]) == 0
    figures = json.loads(capsys.readouterr().out)
    assert (figures["missing"], figures["rare"]["replicates"]) == (0, 2)
    low, high = figures["rare"]["interval"]
    assert 0.0 < low <= figures["rare"]["share"] <= high <= 1.0
    rows = [json.loads(line) for line in (tmp_path / "rows.jsonl").read_text().splitlines()]
    branch = some([it for row in rows for it in row.get("branches", ())])[0]
    assert branch["case_id"] in page
    assert main(["campaign", "show", str(tmp_path), branch["case_id"], "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["is_same"] is True
    replicate = next(row for row in rows if row["outcome"] == "estimated")
    assert main(["campaign", "show", str(tmp_path), replicate["case_id"], "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["is_same"] is True
    assert main(["campaign", "export", str(tmp_path), "--csv"]) == 0


def looks_that_have_to_miss(case):
    """Return how many looks in a row have to miss for a hit, by driving with one detection each.

    A detector that never misses and sees as far as one look's distance detects at that look. Those
    from the first within range to the last that still helps have to miss.
    """
    files, distances, missed = make_host().vehicles, [], [0]

    def look(hand):
        if hand.chosen.missed > missed[0]:
            distances.append(missed[1])
        missed[:] = hand.chosen.missed, hand.obstacle.distance_m()

    assert run_case({**case, "detector_miss": 1.0}, files, look)["outcome"] == "failed"
    helps = [
        run_case({**case, "detector_miss": 0.0, "detector_range_m": far_m + 1e-9}, files)["outcome"]
        == "passed"
        for far_m in some(distances)
    ]
    assert helps == sorted(helps, reverse=True), "the later it detects, the worse"
    assert helps.count(False) > 0
    return sum(helps)


@pytest.fixture
def study(tmp_path):
    """The plan of the study, whose probability is known."""
    (tmp_path / "campaign.toml").write_text(STUDY.read_text(encoding="utf-8"), encoding="utf-8")
    return read_plan(tmp_path / "campaign.toml")


@pytest.mark.exhaustive  # some 20 drives
def test_the_probability_of_the_study_is_that_of_so_many_misses(study):
    """Whatever the seed: an IMU's noise moves no look from one side to the other."""
    cases = [case.spec for case in islice(study.cases(), 3)]
    assert {looks_that_have_to_miss(case) for case in cases} == {LOOKS}
    assert study.case["detector_miss"] ** LOOKS == pytest.approx(1.0 / 5000.0, rel=0.02)


def estimates(study, seeds):
    """Return the study's estimate under each campaign's seed, by case processes."""
    plans = {seed: replace(study, seed=seed) for seed in seeds}
    cases = {
        seed: [case for case in plan.cases() if "splitting" in case.spec]
        for seed, plan in plans.items()
    }
    rows = []
    runner = CaseRunner((it for of in cases.values() for it in of), code_hash(), 2, 60.0)
    runner.run(rows.append, lambda: None)
    by_id = {row["case_id"]: row for row in some(rows)}
    return [
        estimate([by_id[case_id(it.spec)] for it in of], study.confidence) for of in cases.values()
    ]


@pytest.mark.process
@pytest.mark.exhaustive  # some minutes of a core
@pytest.mark.timeout(1800)
def test_a_known_rare_failure_is_found_with_its_probability(study):
    (it,) = estimates(study, [1])
    assert it.runs <= 1000
    assert it.low <= study.case["detector_miss"] ** LOOKS <= it.high


@pytest.mark.process
@pytest.mark.soak  # twenty times that
@pytest.mark.timeout(7200)
def test_eighteen_of_twenty_intervals_hold_the_known_probability(study):
    known = study.case["detector_miss"] ** LOOKS
    found = estimates(study, range(1, 21))
    assert every(it.runs <= 1000 for it in found)
    held = [it.low is not None and it.low <= known <= it.high for it in found]
    assert sum(held) >= 18, [(it.share, it.low, it.high) for it in found]
