"""What is told of a car after its configuration was written."""

from types import SimpleNamespace

import pytest

from firmware.core.settings.params import TABLE
from host_bridge.core import State
from host_bridge.deploy.flash import commissioning
from tests.support.evidence import some


def opened(**changes):
    status = SimpleNamespace(state=State.STANDBY, shown_state=State.STANDBY)
    car = {"config_hash": b"\x0a\x0b", "status": status,
           "why_stopped": lambda: "nothing"}  # fmt: skip
    return SimpleNamespace(
        identity=SimpleNamespace(car_name="red", board_id=b"\x01\x02"),
        vehicle=SimpleNamespace(name="nigel"), car=SimpleNamespace(**{**car, **changes}),
    )  # fmt: skip


VEHICLE = SimpleNamespace(step_s=0.02)


def test_it_says_which_car_and_what_it_does():
    assert commissioning._what(opened(), 3, VEHICLE) == {
        "car": "red", "vehicle": "nigel", "board_id": "0102", "config_hash": "0a0b",
        "parameters": "3 changed, all read back", "beat_ms": pytest.approx(20.0),
        "state": "STANDBY", "word": "PARKED", "why": "nothing",
    }  # fmt: skip


def test_of_a_car_that_has_said_nothing_yet_it_claims_nothing():
    found = commissioning._what(opened(status=None, config_hash=None), 0, VEHICLE)
    assert (found["state"], found["config_hash"]) == ("", "")


def test_it_waits_for_the_longest_start_that_a_vehicle_file_may_ask_for():
    longest_ms = max(row[4] for row in some(TABLE) if row[0] == "start_ms")
    assert longest_ms / 1e3 < commissioning.STARTED_WITHIN_S
