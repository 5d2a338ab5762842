"""``tandem follow``: a twin behind a car that a transmitter drives, as programs."""

from __future__ import annotations

import json

import pytest

from host_bridge.core.errors import VehicleFileFault
from tests.host_bridge.cli.programs import serving, tandem
from tests.host_bridge.sharing.desk import runtime_folder

pytestmark = pytest.mark.process(drives=True)

TWIN = "sim://f1tenth?name=twin&payload_kg=1"


@pytest.fixture(autouse=True)
def folder(monkeypatch):
    with runtime_folder(monkeypatch) as path:
        yield path


def test_a_twin_follows_by_the_same_bytes_and_the_car_s_monitor_names_the_radio(folder):
    log = folder / "followed.mcap"
    with serving("sim://f1tenth?rc=1", "leader"):  # the hand arms it after 8 s
        done = tandem(
            "follow", "leader", TWIN, "--seconds", "14", "--json", "--record", str(log),
            within_s=60.0,
        )  # fmt: skip
        shown = tandem("monitor", "leader", "--seconds", "1").stdout
    assert done.returncode == 0, done.stderr
    *rows, last = [json.loads(line) for line in done.stdout.splitlines()]
    twin = [row for row in rows if row["car"] == "twin"]
    assert "ACTIVE" in {row["state"] for row in twin}
    assert max(row["speed_mps"] for row in twin) > 0.3
    (follower,) = last["summary"]["followers"]
    assert follower["is_equal"]
    assert follower["agreed"] > 100
    assert follower["crcs"][0] == follower["crcs"][1]
    assert follower["state"] != "ACTIVE", "nobody is left armed behind"
    assert "RC manual" in shown
    assert log.stat().st_size > 10_000


def test_a_car_without_a_receiver_has_nothing_to_follow():
    refused = tandem("follow", "sim://nigel", "sim://nigel?name=twin", "--seconds", "1")
    assert refused.returncode == VehicleFileFault.exit_code
    assert "has no RC receiver" in refused.stderr
    assert "tandem drive --car CAR --twin CAR" in refused.stderr


def test_a_scripted_hand_needs_a_receiver_too():
    refused = tandem("monitor", "sim://nigel?rc=1", "--seconds", "1")
    assert refused.returncode == 2
    assert "nigel has no RC receiver" in refused.stderr
