"""Cases on Dask: the same bits as in processes here, with a worker killed on the way."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
from importlib.util import find_spec

import pytest

from host_bridge.core.errors import UsageFault
from host_bridge.drive.lockstep.campaign.plan import read_plan
from host_bridge.drive.lockstep.campaign.runners import dask_runner
from host_bridge.drive.lockstep.campaign.runners.clusters import LOCAL, read_place
from host_bridge.drive.lockstep.campaign.runners.dask_runner import DaskRunner, compute
from host_bridge.drive.lockstep.campaign.runners.processes import CaseRunner
from host_bridge.drive.lockstep.campaign.spec import case_id, code_hash
from tests.support.evidence import some

pytest.importorskip("distributed", reason="the extra campaign is not installed")

HERE = read_place(LOCAL)
SMALL = """\
[campaign]
title = "Dask"
repetitions = 6
[case]
vehicle = "nigel"
duration_s = 1.0
[factors]
fault = ["none", "runstop@2s"]
[oracles]
no_stop = true
"""


@pytest.fixture
def plan(tmp_path):
    (tmp_path / "campaign.toml").write_text(SMALL, encoding="utf-8")
    return read_plan(tmp_path / "campaign.toml")


def hashes(rows):
    return {row["case_id"]: row["result_hash"] for row in some(rows)}


@pytest.mark.process
@pytest.mark.exhaustive  # a cluster of two workers takes seconds to start, and one is killed
def test_a_local_cluster_gives_the_same_bits_though_a_worker_is_killed(plan, tmp_path):
    here, there, killed = [], [], []
    CaseRunner(plan.cases(), code_hash(), 2, 60.0).run(here.append, lambda: None)
    runner = DaskRunner(plan.cases(), code_hash(), 2, 60.0, HERE, tmp_path)

    def kill_one():
        if there and not killed:
            pids = runner.client.run(os.getpid)
            killed.append(next(iter(pids.values())))
            os.kill(killed[0], signal.SIGKILL)

    runner.run(there.append, kill_one)
    assert killed
    assert len(there) == len(here) == 12
    assert hashes(there) == hashes(here)
    assert not (tmp_path / ".spool").exists()


@pytest.mark.process
def test_a_batch_that_is_run_again_takes_what_was_finished_from_the_spool(plan, tmp_path):
    spec = dict(next(plan.cases()).spec)
    kept = {"outcome": "passed", "why": "", "result_hash": "of before"}
    file = tmp_path / code_hash() / f"{case_id(spec)}.json"
    file.parent.mkdir()
    file.write_text(json.dumps(kept), encoding="utf-8")
    assert compute([(spec, False)], code_hash(), 60.0, str(tmp_path), []) == [kept]
    file.write_text('{"outcome": "pas', encoding="utf-8")  # torn
    (row,) = compute([(spec, False)], code_hash(), 60.0, str(tmp_path), [])
    assert row["result_hash"] != kept["result_hash"]
    assert json.loads(file.read_text(encoding="utf-8")) == row


@pytest.mark.process
def test_a_worker_of_several_campaigns_has_a_process_for_each_one_s_trust(plan, tmp_path):
    spec = dict(next(plan.cases()).spec)
    compute([(spec, False)], code_hash(), 60.0, str(tmp_path / "first"), [])
    first = dask_runner._process
    compute([(spec, False)], code_hash(), 60.0, str(tmp_path / "second"), [])
    assert dask_runner._process is first
    compute([(spec, False)], code_hash(), 59.0, str(tmp_path / "third"), [])
    assert dask_runner._process is not first
    assert first._process is None, "it has ended"


@pytest.mark.process
def test_a_worker_of_other_sources_is_refused(plan, tmp_path):
    other = DaskRunner(plan.cases(), "another", 1, 60.0, HERE, tmp_path)
    with pytest.raises(UsageFault, match="other sources"):
        other.run([].append, lambda: None)


PLACES = {
    "dusk": "processes, dask, dask://HOST:PORT or slurm",
    "dask?queue=short": "processes, dask, dask://HOST:PORT or slurm",
    "slurm?partition=short": "queue, account, walltime",
}


@pytest.mark.parametrize("text", PLACES)
def test_a_place_that_is_none_is_refused_with_what_there_is(text):
    with pytest.raises(UsageFault, match=PLACES[text].replace("?", "[?]")):
        read_place(text)


def test_options_of_slurm_are_read():
    place = read_place("slurm?queue=short&directive=--qos=low")
    assert place.options == {"queue": "short", "directive": "--qos=low"}


@pytest.fixture
def jobqueue(monkeypatch):
    """It is imported anew: in a program that begins, nothing has been imported before."""
    if not find_spec("dask_jobqueue"):
        pytest.skip("the extra campaign is not installed")
    for name in [name for name in sys.modules if name.partition(".")[0] == "dask_jobqueue"]:
        monkeypatch.delitem(sys.modules, name)


@pytest.mark.usefixtures("jobqueue")
def test_a_job_s_time_that_is_none_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda name: f"/usr/bin/{name}")
    runner = DaskRunner([], code_hash(), 1, 60.0, read_place("slurm?walltime=1h"), tmp_path)
    with pytest.raises(UsageFault, match="HH:MM:SS"):
        runner.run([].append, lambda: None)


@pytest.mark.usefixtures("jobqueue")
def test_without_slurm_it_says_so_and_ctrl_c_is_as_it_was(tmp_path, monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda name: None)
    runner = DaskRunner([], code_hash(), 1, 60.0, read_place("slurm"), tmp_path)
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(UsageFault, match="sbatch is not on this machine"):
        runner.run([].append, lambda: None)
    assert signal.getsignal(signal.SIGINT) is before
