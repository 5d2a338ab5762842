"""Promises as oracles, bad links, lost cars, and functions that are not decided by their spec."""

from __future__ import annotations

import pytest

from firmware.core.motion.outputs import OutputStage
from firmware.core.supervisor import Supervisor
from host_bridge.cli.main import main
from host_bridge.drive.lockstep.campaign.case import run_case, uri_of
from host_bridge.drive.lockstep.campaign.plan import Case
from host_bridge.drive.lockstep.campaign.runners.processes import runs_twice
from host_bridge.drive.lockstep.campaign.spec import CHANGES, KEYS
from host_bridge.sharing.services import make_host
from sim_mock.bodies import trust
from sim_mock.faults.bounds.promises import TITLES
from sim_mock.files.keys import REQUIRED
from tests.support.evidence import every

HOLD, STOPPED = 3, 5


def spec_of(**values):
    spec = {key.name: key.default for key in KEYS if key.default is not REQUIRED}
    spec |= {"vehicle": "f1tenth", CHANGES: {}, "oracles": ["no_stop", *TITLES], "files": {}}
    return {**spec, "duration_s": 1.5, "speed_mps": 2.0, **values}


def driven(**values):
    return run_case(spec_of(**values), make_host().vehicles)


@pytest.mark.parametrize(
    "fault", ["none", "runstop@2.5s", "board_reset@2.5s", "program_hang@2.5s", "brown_out@2.5s"]
)
def test_the_program_keeps_its_promises(fault):
    row = driven(fault=fault)
    assert row["oracles"] == {"no_stop": fault == "none", **dict.fromkeys(TITLES, True)}
    assert row["true_distance_m"] > 0.5


def test_a_program_that_arms_itself_again_is_found(monkeypatch):
    step = Supervisor.step

    def broken(self, conditions):
        step(self, conditions)
        if self.before == STOPPED:
            self.state = HOLD

    monkeypatch.setattr(Supervisor, "step", broken)
    row = driven(fault="runstop@2.5s")
    assert row["outcome"] == "failed"
    assert row["oracles"]["S4"] is False
    assert "STOPPED led to HOLD" in row["why"]
    assert row["oracles"]["S3"] is False
    assert "HOLD with a stop cause or fault" in row["why"]


def test_outputs_that_drive_on_or_leave_their_range_are_found(monkeypatch):
    step = OutputStage.step

    def broken(self, effort, brake, steering):
        step(self, abs(effort), brake, steering)
        self.values[0] += 1_000_000  # ns

    monkeypatch.setattr(OutputStage, "step", broken)
    row = driven(fault="host_stall@3s", duration_s=4.0)
    assert row["outcome"] == "failed"
    assert row["oracles"]["S1"] is False
    assert "driven on in STOPPING" in row["why"]
    assert row["oracles"]["S8"] is False


def test_a_stop_of_a_lost_car_is_counted_and_measured():
    """The host is gone by then, and its drive is over: what the car does is looked at in truth."""
    row = driven(fault="host_stall@3s", duration_s=4.0)
    assert (row["outcome"], row["stops"]) == ("failed", 1)
    assert 0.02 < row["stop_m"] < 1.0
    assert "link was lost" in row["why"]


def test_a_bad_link_stops_a_car_and_a_longer_lease_rides_it_out():
    short = {"sources.script.lease_s": 0.05}
    stopped = [driven(seed=seed, link_loss=0.4, vehicle_changes=short) for seed in range(3)]
    assert sum(row["stops"] for row in stopped) > 0
    driven_on = [driven(seed=seed, link_loss=0.1) for seed in range(3)]
    assert [row["stops"] for row in driven_on] == [0, 0, 0]
    assert every(row["outcome"] == "passed" for row in driven_on)


def test_a_bad_link_waits_until_the_car_may_drive():
    row = driven(link_loss=1.0)
    assert row["outcome"] == "failed"  # it did arm; a car that cannot is in no denominator
    assert uri_of(spec_of(link_delay_ms=5.0, seed=3)).startswith("lossy+sim://f1tenth?seed=3&inner")


def test_of_functions_some_cases_run_twice():
    def case(repetition, controller, seed):
        return Case(0, {}, repetition, spec_of(controller=controller, seed=seed))

    assert runs_twice(case(0, "python:a.py:f", 1), False)
    later = [runs_twice(case(1, "python:a.py:f", seed), False) for seed in range(1000)]
    assert 2 <= sum(later) <= 30
    assert not runs_twice(case(0, "script:slalom", 1), False)
    assert runs_twice(case(7, "script:slalom", 1), True)


REMEMBERS = """\
import random

def drive(t_s, observed):
    return 0.2 + 0.1 * random.random(), 0.0
"""
CAMPAIGN = """\
[campaign]
title = "It draws at random"
repetitions = 2
[case]
vehicle = "nigel"
duration_s = 1.0
controller = "python:FILE:drive"
[oracles]
no_stop = true
"""


@pytest.mark.process
@pytest.mark.smoke
def test_a_function_that_draws_at_random_ends_the_campaign(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(trust, "_trusted", set())
    file = tmp_path / "mine.py"
    file.write_text(REMEMBERS, encoding="utf-8")
    text = CAMPAIGN.replace("FILE", str(file))
    (tmp_path / "campaign.toml").write_text(text, encoding="utf-8")
    words = ["campaign", "run", str(tmp_path), "--workers", "1", "--trust-code", str(file)]
    assert main(words) == 1
    assert "not decided by its spec" in capsys.readouterr().err
