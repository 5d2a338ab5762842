"""Profiles, attested stands and caps from the command line, on a served car."""

from __future__ import annotations

import argparse
import json
import os
import pty
import subprocess

import pytest

from host_bridge.cli.arguments.profile_option import add_profile, profile_of
from host_bridge.core import Profile
from host_bridge.core.errors import RefusedFault, UsageFault
from tests.host_bridge.cli.programs import PATIENCE_S, TANDEM, serving, tandem, until
from tests.host_bridge.sharing.desk import runtime_folder
from tests.support import patience

pytestmark = pytest.mark.process(drives=True)

ATTESTED = ("--profile", "stand", "--attest", "wheels-off-ground")


@pytest.fixture(autouse=True)
def folder(monkeypatch):
    with runtime_folder(monkeypatch) as path:
        yield path


def parsed(*words: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    add_profile(parser)
    return parser.parse_args(words)


def answered(answer: bytes, *words: str) -> subprocess.CompletedProcess[bytes]:
    """A command with a person at its terminal."""
    ours, theirs = pty.openpty()
    os.write(ours, answer)
    try:
        return patience.run([*TANDEM, *words], stdin=theirs, within_s=PATIENCE_S)
    finally:
        os.close(ours)
        os.close(theirs)


def monitored(topic: str) -> dict[str, object]:
    lines = tandem("monitor", "car", "--json", "--seconds", "1").stdout.splitlines()
    rows = [json.loads(line) for line in lines]
    return [row for row in rows if row["topic"] == topic][-1]


def test_a_profile_is_the_vehicle_file_s_unless_one_is_named():
    assert profile_of(parsed()) is None
    assert profile_of(parsed("--profile", "race"), 3) is Profile.RACE


def test_a_stand_is_attested_and_never_mirrored():
    with pytest.raises(UsageFault, match="for one car"):
        profile_of(parsed(*ATTESTED), 2)
    assert profile_of(parsed(*ATTESTED)) is Profile.STAND


def test_nobody_to_ask_is_no_attest():
    with serving("sim://f1tenth", "car"):
        refused = tandem("arm", "--profile", "stand")
        assert refused.returncode == UsageFault.exit_code
        assert "--attest wheels-off-ground" in refused.stderr
        until(lambda: monitored("status")["state"] == "STANDBY", "it to stand by, never armed")


def test_a_person_is_asked_and_taken_at_their_word():
    with serving("sim://f1tenth", "car"):
        said_no = answered(b"n\n", "arm", "--profile", "stand")
        assert said_no.returncode == RefusedFault.exit_code
        assert b"put the car on its stand" in said_no.stderr
        said_yes = answered(b"yes\n", "arm", "--profile", "stand")
        assert said_yes.returncode == 0, said_yes.stderr
        shown = tandem("monitor", "car", "--seconds", "1").stdout
        assert "Stand" in shown
        status = monitored("status")
        assert status["profile"] == "STAND"


def test_a_stop_source_that_is_missing_is_named_with_all_other_reasons():
    with serving("sim://f1tenth", "car"):
        assert tandem("stop").returncode == 0
        refused = tandem("arm", "--profile", "race")
        assert refused.returncode == RefusedFault.exit_code
        assert "stop box: this car has no key for a stop box" in refused.stderr
        assert "a stop is locked: clear it first" in refused.stderr


def test_a_cap_is_set_lowered_and_not_raised_while_armed():
    with serving("sim://f1tenth", "car"):
        done = tandem("cap", "0.5", "--json")
        assert json.loads(done.stdout)["cap_mps"] == 0.5
        assert tandem("cap", "0.6").stdout == "car: 0.6 m/s at most\n"
        assert tandem("arm").returncode == 0
        refused = tandem("cap", "1", "--car", "car")
        assert refused.returncode == RefusedFault.exit_code
        assert "car did not cap its speed" in refused.stderr
        assert "can only be lowered" in refused.stderr
        lowered = tandem("cap", "0.25", "--car", "car")
        assert lowered.returncode == 0, lowered.stderr
        assert monitored("outputs")["cap_mps"] == 0.25
        assert tandem("stop").returncode == 0
        refused = tandem("cap", "1")
        assert "disarm it, or clear its stop" in refused.stderr  # one that is locked
        assert tandem("clear").returncode == 0
        assert tandem("cap", "1").returncode == 0


@pytest.mark.parametrize("speed", ["fast", "-1", "100", "nan"])
def test_a_cap_that_is_none_is_refused_at_once(speed):
    wrong = tandem("cap", speed)
    assert wrong.returncode == 2
    assert "SPEED" in wrong.stderr
