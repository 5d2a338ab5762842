"""Cases as jobs of a real Slurm: the same bits, though workers and jobs are killed at random."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
from importlib.util import find_spec

import pytest

from host_bridge.core.errors import INTERRUPTED, DeviceFault
from host_bridge.drive.lockstep.campaign.plan import read_plan
from host_bridge.drive.lockstep.campaign.runners.clusters import read_place
from host_bridge.drive.lockstep.campaign.runners.dask_runner import DaskRunner
from host_bridge.drive.lockstep.campaign.runners.processes import CaseRunner
from host_bridge.drive.lockstep.campaign.spec import code_hash
from tests.host_bridge.cli.programs import TANDEM, tandem
from tests.host_bridge.drive.lockstep.campaign import slurm_node
from tests.support import patience
from tests.support.evidence import some

pytestmark = [
    pytest.mark.skipif(
        not find_spec("dask_jobqueue"), reason="the extra campaign is not installed"
    ),
    pytest.mark.process,
    pytest.mark.exhaustive,  # jobs start within seconds and are killed over and over: minutes
    pytest.mark.timeout(900),
    pytest.mark.skipif(bool(slurm_node.missing()), reason=slurm_node.missing()),
]
ON = "slurm?interface=lo&memory=1GB&walltime=00:10:00"
KILLS = 4
RUN_S = 300
CASES = """\
[campaign]
title = "Slurm"
repetitions = 20
[case]
vehicle = "nigel"
duration_s = 3.0
[factors]
fault = ["none", "runstop@2s"]
[oracles]
no_stop = true
"""


@pytest.fixture(scope="module")
def slurm(tmp_path_factory):
    """The environment of its commands, for this program and those that it starts."""
    with (
        slurm_node.one_node(tmp_path_factory.mktemp("slurm")) as environment,
        pytest.MonkeyPatch.context() as patch,
    ):
        for name, value in environment.items():
            patch.setenv(name, value)
        yield environment


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "campaign.toml").write_text(CASES, encoding="utf-8")
    return tmp_path


@pytest.fixture(scope="module")
def here(tmp_path_factory):
    """The results of case processes of this machine."""
    folder = tmp_path_factory.mktemp("here")
    (folder / "campaign.toml").write_text(CASES, encoding="utf-8")
    rows = []
    cases = read_plan(folder / "campaign.toml").cases()
    CaseRunner(cases, code_hash(), 2, 60.0).run(rows.append, lambda: None)
    return hashes(rows)


def hashes(rows):
    return {row["case_id"]: row["result_hash"] for row in some(rows)}


def rows_of(folder):
    file = folder / "rows.jsonl"
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


def jobs(slurm):
    return slurm_node.said(["squeue", "-h", "-o", "%i"], slurm).split()


def test_jobs_give_the_same_bits_though_they_are_killed_at_random(slurm, here, folder):
    chance, there, killed = random.Random(1), [], []

    def kill():
        pids = list(runner.client.run(os.getpid).values())
        if len(killed) >= KILLS or not there or not pids:
            return
        if len(killed) % 2:
            victim = chance.choice(jobs(slurm))
            slurm_node.said(["scancel", victim], slurm)
        else:
            victim = chance.choice(pids)
            os.kill(victim, signal.SIGKILL)
        killed.append(victim)

    plan = read_plan(folder / "campaign.toml")
    runner = DaskRunner(plan.cases(), code_hash(), 2, 60.0, read_place(ON), folder)
    runner.run(there.append, kill)
    assert len(killed) == KILLS
    assert hashes(there) == here
    assert len(there) == len(here) == 40
    patience.until(lambda: not jobs(slurm), "its jobs end with it", 60)
    assert not (folder / ".keys").exists()
    assert not (folder / ".spool").exists()


def test_a_killed_campaign_loses_the_cases_in_hand_alone(slurm, here, folder):
    words = ("campaign", "run", str(folder), "--on", ON, "--workers", "2")
    first = subprocess.Popen(
        [*TANDEM, *words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        patience.until(
            lambda: len(rows_of(folder)) >= 8 or first.poll() is not None, "eight rows", RUN_S
        )
        assert first.poll() is None, "it is killed on its way"
    finally:
        first.kill()
        first.wait()
    kept = hashes(rows_of(folder))
    spooled = {file.stem for file in (folder / ".spool").glob("*/*.json")}
    assert kept.items() <= here.items()
    assert set(kept) <= spooled, "each row was spooled before it was told"
    patience.until(lambda: not jobs(slurm), "its jobs end without their scheduler", 120)
    done = tandem(*words, within_s=RUN_S)
    assert done.returncode == 0, done.stderr
    assert hashes(rows_of(folder)) == here
    assert len(rows_of(folder)) == len(here), "no case ran twice that had a row"


def test_ctrl_c_ends_in_order_and_the_campaign_goes_on(slurm, here, folder):
    """dask-jobqueue has a handler of its own, by which a campaign would end as if it were done."""
    words = ("campaign", "run", str(folder), "--on", ON, "--workers", "2")
    first = subprocess.Popen([*TANDEM, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        patience.until(
            lambda: len(rows_of(folder)) >= 8 or first.poll() is not None, "eight rows", RUN_S
        )
        first.send_signal(signal.SIGINT)
        output, errors = first.communicate(timeout=RUN_S)
    finally:
        first.kill()
    kept = hashes(rows_of(folder))
    assert first.returncode == INTERRUPTED, (output, errors)
    assert kept.items() < here.items()
    assert not (folder / ".keys").exists()
    patience.until(lambda: not jobs(slurm), "its jobs end with it", 60)
    done = tandem(*words, within_s=RUN_S)
    assert done.returncode == 0, done.stderr
    assert hashes(rows_of(folder)) == here


def test_a_partition_that_is_none_is_told(slurm, folder):
    place = read_place("slurm?interface=lo&queue=nowhere")
    plan = read_plan(folder / "campaign.toml")
    with pytest.raises(DeviceFault, match="Slurm takes no such job") as told:
        DaskRunner(plan.cases(), code_hash(), 1, 60.0, place, folder).run([].append, lambda: None)
    assert "nvalid partition" in str(told.value)
