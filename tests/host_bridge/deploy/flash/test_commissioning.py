"""What is told of a car after its configuration was written."""

from types import SimpleNamespace

import pytest

from firmware.core.settings.params import TABLE
from host_bridge.config.store.pairings import Pairing
from host_bridge.core import State
from host_bridge.deploy.flash import commissioning
from host_bridge.deploy.flash.precheck import FoundCar
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


@pytest.mark.parametrize(
    ("asked", "found", "kept", "wanted"),
    [
        ("blue", "red", ("green", "nigel"), "blue"),
        (None, "red", ("green", "nigel"), "red"),
        (None, "", ("green", "nigel"), "green"),  # it spoke another version of the protocol
        (None, "", ("green", "f1tenth"), "nigel"),  # the board was another car's
        (None, "", None, "nigel"),
    ],
)
def test_a_car_keeps_its_name_when_it_is_updated(asked, found, kept, wanted, monkeypatch):
    monkeypatch.setattr(commissioning, "with_control_period", lambda known, *_, **__: known)
    known = Pairing("0102", kept[0], kept[1], "aa", {"step_us": [10_000]}) if kept else None
    host = SimpleNamespace(pairings=SimpleNamespace(of=lambda _: known))
    row = dict.fromkeys(("board", "runtime", "slot", "program", "is_paired"), "")
    vehicle = SimpleNamespace(name="nigel")
    steps = commissioning.Commissioning("p", "p", asked, vehicle, None, FoundCar(found))
    got = steps._pairing(host, opened(), row)
    assert (got.car_name, got.vehicle) == (wanted, "nigel")
    assert dict(got.trim) == ({"step_us": [10_000]} if kept and kept[1] == "nigel" else {})
