"""``tandem selftest`` on cars that are real processes: what is good, bad, and refused."""

import json

import pytest

from tests.host_bridge.cli.programs import PATIENCE_S, program, tandem, until, virtual_car
from tests.support import patience

pytestmark = pytest.mark.process(drives=True)

YES = ("--attest", "wheels-off-ground")


@pytest.fixture(autouse=True)
def own_folders(tmp_path, monkeypatch):
    monkeypatch.setenv("TANDEM_RUNTIME_DIR", str(tmp_path / "run"))
    monkeypatch.setenv("TANDEM_DATA_DIR", str(tmp_path / "data"))


def rows(done):
    return {row["what"]: row for row in json.loads(done.stdout)}


@pytest.mark.parametrize("vehicle", ["f1tenth", "nigel", "autorally"])
def test_a_good_car_passes_and_what_was_left_out_is_said(vehicle):
    words = ("selftest", f"sim+process://{vehicle}", "--without", "runstop", *YES, "--json")
    done = tandem(*words, within_s=60)
    assert done.returncode == 0, done.stdout + done.stderr
    found = rows(done)
    assert found["runstop"]["is_good"] is None
    for what in ("steering left", "steering right", "drive", "speed", "standstill"):
        assert found[what]["is_good"] is True


def test_the_runstop_is_proven_by_opening_and_closing_it(tmp_path):
    link = tmp_path / "car"
    with virtual_car("f1tenth", link) as car:

        def say(words):
            car.stdin.write(words + "\n")
            car.stdin.flush()

        words = ("selftest", f"serial://{link}", "--only", "runstop", *YES, "--json")
        with program(*words) as test:
            assert "Open" in test.stderr.readline()
            say("runstop open")
            assert "Close" in test.stderr.readline()
            say("runstop close")
            out, _ = patience.communicate(test, PATIENCE_S)
    assert test.returncode == 0, out
    assert [row["is_good"] for row in json.loads(out)] == [True] * 5


def test_a_car_whose_loop_is_open_is_not_tested_but_refused(tmp_path):
    link = tmp_path / "car"
    with virtual_car("f1tenth", link) as car:
        car.stdin.write("runstop open\n")
        car.stdin.flush()
        until(
            lambda: tandem("selftest", f"serial://{link}", "--only", "drive", *YES).returncode == 6,
            "the open loop to be refused",
        )


def test_a_wheel_that_does_not_turn_is_found():
    uri = "sim+process://f1tenth?fault=dead_encoder"
    done = tandem("selftest", uri, "--only", "drive", *YES, "--json", within_s=60)
    assert done.returncode == 1, done.stdout + done.stderr
    assert rows(done)["encoder left"]["is_good"] is False


def test_nothing_moves_unless_somebody_says_that_the_wheels_are_off_the_ground():
    done = tandem("selftest", "sim+process://f1tenth", "--only", "drive")
    assert done.returncode == 2
    assert "wheels" in done.stderr
    assert tandem("selftest", "sim+process://f1tenth", "--only", "sensors").returncode == 0
