"""Twins that a page starts: virtual cars of a car's vehicle file, which end with the station."""

from __future__ import annotations

import pytest

from host_bridge.sharing.endpoints.served import served
from host_bridge.station.backend.started_twins import twin_uri_of
from tests.host_bridge.cli.programs import serving, until
from tests.host_bridge.sharing.desk import runtime_folder
from tests.host_bridge.station.backend.talk import talking_to
from tests.host_bridge.station.stage import PORTS

PORT = PORTS + 41


@pytest.mark.parametrize(
    ("calibration", "taken", "name", "uri"),
    [
        ("", {"red"}, "red-twin", "sim://f1tenth?name=red-twin&board=red-twin"),
        ("", {"red", "red-twin"}, "red-twin2", "sim://f1tenth?name=red-twin2&board=red-twin2"),
        ("own", {"red"}, "red-twin", "sim://f1tenth?name=red-twin&board=red-twin&calibration=own"),
    ],
)
def test_a_twin_has_a_name_a_board_and_a_real_ones_calibration(calibration, taken, name, uri):
    assert twin_uri_of("red", "f1tenth", calibration, taken) == (name, uri)


def test_what_would_cut_a_uri_short_is_quoted():
    assert twin_uri_of("a&b", "./my.toml", "", ())[1] == (
        "sim://./my.toml?name=a%26b-twin&board=a%26b-twin"
    )


@pytest.mark.process
@pytest.mark.xdist_group("station")
def test_a_twin_is_there_on_a_board_of_its_own_until_the_station_ends(monkeypatch):
    with runtime_folder(monkeypatch), serving("sim://f1tenth", "red"):
        with talking_to(PORT) as station:
            until(lambda: station.picture()["cars"], "the station to see the car")
            assert station.asked(do="twin", car="nobody")["is_done"] is False
            said = station.asked(do="twin", car="red")
            assert (said["is_done"], said["name"]) == (True, "red-twin")

            def boards():
                rows = station.picture()["cars"]
                return {it["name"]: it["board"] for it in rows if it["vehicle"] == "f1tenth"}

            until(lambda: boards().get("red") and boards().get("red-twin"), "the twin to be there")
            assert boards()["red"] != boards()["red-twin"]
            assert station.picture()["twins"] == ""
        until(lambda: [it.name for it in served()] == ["red"], "the twin to end")
