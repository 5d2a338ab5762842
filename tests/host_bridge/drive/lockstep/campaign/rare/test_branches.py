"""Branches by fork are the bits of running again, and their processes end with them."""

from __future__ import annotations

import os
import signal
from contextlib import suppress
from pathlib import Path

import pytest

from host_bridge.core.errors import DataFileFault
from host_bridge.drive.lockstep.campaign.case import run_case
from host_bridge.drive.lockstep.campaign.plan import read_plan
from host_bridge.drive.lockstep.campaign.rare.forks import BranchesByFork, BranchLostError
from host_bridge.drive.lockstep.campaign.rare.splitting import run_replicate, run_spec
from host_bridge.sharing.services import make_host
from tests.support.evidence import every, some

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")

RARE = """\
[campaign]
title = "How often does a bad link stop a car?"
seed = 1
[case]
vehicle = "nigel"
controller = "script:slalom"
duration_s = 0.3
link_loss = 0.5
link_direction = "up"
[design]
kind = "splitting"
level = "claims_missed"
particles = 4
replicates = 2
most_runs = 60
chance = 2
[oracles]
no_stop = true
"""
ALSO = (  # what else is left to chance: a faulty wire, a track with an IMU's noise, delays, bursts
    ("link_loss = 0.5", 'fault = "lossy_wire:share=0.5@1.8s"'),
    ('vehicle = "nigel"', 'vehicle = "f1tenth"\ntrack = "corridor"'),
    ("link_loss = 0.5", "link_loss = 0.3\nlink_delay_ms = 5.0\nlink_jitter_ms = 20.0"),
    ("link_loss = 0.5", 'link_burst = "0.1,0.1"'),
)


def plan_of(folder, text):
    (folder / "campaign.toml").write_text(text, encoding="utf-8")
    return read_plan(folder / "campaign.toml")


def replicates_of(plan):
    return [case.spec for case in plan.cases()][plan.splitting.chance :]


def family():
    """Return the processes below this one, the youngest last."""
    parents = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            pid, parent = int(stat.parent.name), int(stat.read_text().rpartition(")")[2].split()[1])
            parents[pid] = parent
    found = [os.getpid()]
    for pid in found:
        found += [it for it, parent in parents.items() if parent == pid]
    return found[1:]


def without(row):
    return {key: value for key, value in row.items() if key != "ran"}


def same_both_ways(spec):
    files = make_host().vehicles
    forked = run_replicate(spec, files)
    again = run_replicate(spec, files, may_fork=False)
    assert forked["outcome"] == "estimated", forked["why"]
    assert without(forked) == without(again)
    return forked, again


@pytest.mark.process
@pytest.mark.smoke
def test_a_replicate_is_the_same_by_fork_and_by_running_again(tmp_path):
    spec, _ = replicates_of(plan_of(tmp_path, RARE))
    forked, again = same_both_ways(spec)
    assert forked["steps"], "it was split"
    assert forked["ran"]["runs_again"] == 0
    assert again["ran"]["runs_again"] == again["runs"] == forked["runs"]
    for branch in some(forked["branches"]):
        row = run_case(branch["spec"], make_host().vehicles)
        assert (row["outcome"], row["result_hash"]) == ("failed", branch["result_hash"])
        moments = [at_us for at_us, _ in branch["spec"]["lineage"]]
        assert moments == sorted(moments)


@pytest.mark.process
@pytest.mark.exhaustive  # two ways each
@pytest.mark.parametrize(("old", "new"), ALSO)
def test_so_it_is_with_every_kind_of_chance(tmp_path, old, new):
    assert old in RARE
    for spec in some(replicates_of(plan_of(tmp_path, RARE.replace(old, new)))):
        same_both_ways(spec)


@pytest.mark.process
@pytest.mark.exhaustive
def test_snapshots_that_were_dropped_are_run_again_with_the_same_bits(tmp_path, monkeypatch):
    monkeypatch.setattr("host_bridge.drive.lockstep.campaign.rare.forks._MOST_KEPT", 2)
    spec, _ = replicates_of(plan_of(tmp_path, RARE))
    forked, _ = same_both_ways(spec)
    assert forked["ran"]["runs_again"] > 0


def test_chance_begins_anew_and_what_was_before_stays(tmp_path):
    files = make_host().vehicles
    spec, _ = replicates_of(plan_of(tmp_path, RARE))
    case = {key: value for key, value in spec.items() if key != "splitting"}
    plain = run_case(case, files)
    late = run_case({**case, "lineage": [[3_000_000_000, 7]]}, files)
    assert late["trace"] == plain["trace"], "its moment never came"
    assert late["case_id"] != plain["case_id"]
    traces = {
        run_case({**case, "lineage": [[1_800_000, seed]]}, files)["trace"] for seed in (1, 2, 1)
    }
    assert len(traces) == 2
    assert plain["trace"] not in traces


@pytest.mark.process
def test_a_case_that_never_drives_is_refused(tmp_path):
    text = RARE.replace('controller = "script:slalom"', 'controller = "script:nothing"')
    spec, _ = replicates_of(plan_of(tmp_path, text))
    row = run_spec(spec, make_host().vehicles)
    assert row["outcome"] == "refused"
    assert row["why"]


needs_proc = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="no /proc here")


@pytest.mark.process
@needs_proc
def test_all_processes_end_with_the_branches(tmp_path):
    spec, _ = replicates_of(plan_of(tmp_path, RARE))
    branches, before = BranchesByFork(spec, make_host().vehicles, 60.0), set(family())
    begins_us = branches.begin()
    branches.run(((begins_us, 1),))
    assert len(set(family()) - before) >= 2
    branches.close()
    assert not set(family()) - before


@pytest.mark.process
@needs_proc
def test_a_branch_that_is_killed_is_told_and_nothing_waits_for_it(tmp_path):
    spec, _ = replicates_of(plan_of(tmp_path, RARE))
    branches, before = BranchesByFork(spec, make_host().vehicles, 60.0), set(family())
    try:
        begins_us = branches.begin()
        (root,) = set(family()) - before
        os.kill(root, signal.SIGKILL)
        with pytest.raises(BranchLostError):
            branches.run(((begins_us, 1),))
    finally:
        branches.close()


@pytest.mark.process
@needs_proc
def test_a_drive_that_is_killed_is_told_at_once(tmp_path, monkeypatch):
    spec, _ = replicates_of(plan_of(tmp_path, RARE))
    chance = "host_bridge.drive.lockstep.campaign.case.CaseInHand.follow_lineage"
    monkeypatch.setattr(chance, lambda hand: hand.lineage and os.kill(os.getpid(), signal.SIGKILL))
    row = run_replicate(spec, make_host().vehicles)
    assert (row["outcome"], row["why"]) == ("not_measured", "its process ended without a result")


@pytest.mark.parametrize(
    ("old", "new", "what"),
    [
        ('"claims_missed"', '"claims_mised"', "design.level"),
        ('"claims_missed"', '"path_error_m"', "a path: controller"),
        ('"claims_missed"', '"looks_missed"', "brake:obstacle as"),
        ("most_runs = 60", "most_runs = 10", "leaves no room"),
        ("seed = 1", "seed = 1\nrepetitions = 3", "each replicate is one"),
        ("[design]", "[factors]\nspeed_mps = [0.1, 0.2]\n[design]", "of one cell"),
        ("particles = 4", "particle = 4", "did you mean particles"),
    ],
)
def test_a_wrong_design_is_refused(tmp_path, old, new, what):
    assert old in RARE
    with pytest.raises(DataFileFault, match=what):
        plan_of(tmp_path, RARE.replace(old, new))


def test_replicates_follow_the_cases_by_chance(tmp_path):
    plan = plan_of(tmp_path, RARE)
    cases = list(plan.cases())
    assert plan.count() == len(cases) == 4
    assert ["splitting" in case.spec for case in cases] == [False, False, True, True]
    assert len({case.spec["seed"] for case in cases}) == 4
    assert every(case.index == place for place, case in enumerate(cases))
