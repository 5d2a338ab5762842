"""The red flag of the page: it stops every car, and each board itself refuses to be armed."""

from __future__ import annotations

import json

import pytest

from tests.host_bridge.cli.programs import serving, tandem, until
from tests.host_bridge.sharing.desk import runtime_folder
from tests.host_bridge.station.backend.talk import talking_to
from tests.host_bridge.station.stage import PORTS

pytestmark = [pytest.mark.process, pytest.mark.xdist_group("station")]
PORT = PORTS + 40
REFUSED = 6  # by the car


def state(name):
    rows = json.loads(tandem("cars", "--json").stdout)
    return next(it["state"] for it in rows if it["name"] == name)


def test_it_stops_and_holds_every_car_until_who_may_drive_lifts_it(monkeypatch):
    with (
        runtime_folder(monkeypatch),
        serving("sim://f1tenth", "red"),
        talking_to(PORT) as station,
    ):
        until(lambda: station.picture()["cars"], "the station to see the car")
        assert station.picture()["flag"] is None
        assert tandem("arm", "red").returncode == 0
        station.tell(do="red flag", by="Phone")

        def held():
            return (station.picture()["flag"] or {}).get("held", [])

        until(lambda: held() == ["red"], "the car to be held")
        assert station.picture()["flag"]["by"] == "Phone"
        until(lambda: state("red") == "STOPPED", "it to stop")
        tandem("clear", "red")
        refused = tandem("arm", "red")
        assert refused.returncode == REFUSED, refused.stdout + refused.stderr
        assert "a stop source says stop" in refused.stderr
        with serving("sim://nigel", "late"):
            until(lambda: "late" in held(), "a new car to be held too")
            assert tandem("arm", "late").returncode == REFUSED
        assert station.asked(seat="no", do="lift flag")["is_granted"] is False
        assert station.picture()["flag"]
        assert station.asked(do="lift flag")["is_done"]
        until(lambda: station.picture()["flag"] is None, "it to be lifted")
        assert state("red") == "STOPPED", "to lift it clears nothing and arms nothing"

        def arms():
            tandem("clear", "red")
            return tandem("arm", "red").returncode == 0

        until(arms, "the car to be armed again")
