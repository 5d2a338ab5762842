"""The red flag of the page: it stops every car, and each board itself refuses to be armed."""

from __future__ import annotations

import json
from contextlib import contextmanager

import pytest
from websockets.sync.client import connect

from tests.host_bridge.cli.programs import program, serving, tandem, until
from tests.host_bridge.sharing.desk import runtime_folder
from tests.host_bridge.station.stage import PORTS

pytestmark = [pytest.mark.process, pytest.mark.xdist_group("station")]
PORT = PORTS + 40
REFUSED = 6  # by the car


@contextmanager
def station():
    """A station without plots; the addresses of its sockets, and its token."""
    with program("station", "--port", str(PORT), "--no-plots") as process:
        assert process.stdout
        token = process.stdout.readline().strip().partition("#seat=")[2]
        assert token
        yield f"ws://127.0.0.1:{PORT}", token


def said(socket, path, **words):
    with connect(f"{socket}{path}", proxy=None) as it:
        it.send(json.dumps(words))
        return json.loads(it.recv(30.0)) if path == "/work" else None


def picture(socket):
    with connect(f"{socket}/status", proxy=None) as it:
        return json.loads(it.recv(30.0))


def state(name):
    return next(
        it["state"] for it in json.loads(tandem("cars", "--json").stdout) if it["name"] == name
    )


def test_it_stops_and_holds_every_car_until_who_may_drive_lifts_it(monkeypatch):
    with runtime_folder(monkeypatch), serving("sim://f1tenth", "red"), station() as (socket, token):
        assert picture(socket)["flag"] is None
        assert tandem("arm", "red").returncode == 0
        said(socket, "/status", do="red flag", by="Phone")
        until(lambda: (picture(socket)["flag"] or {}).get("held") == ["red"], "the car to be held")
        assert picture(socket)["flag"]["by"] == "Phone"
        until(lambda: state("red") == "STOPPED", "it to stop")
        tandem("clear", "red")
        refused = tandem("arm", "red")
        assert refused.returncode == REFUSED, refused.stdout + refused.stderr
        assert "all-cars stop" in refused.stderr
        with serving("sim://nigel", "late"):
            until(lambda: "late" in picture(socket)["flag"]["held"], "a new car to be held too")
            assert tandem("arm", "late").returncode == REFUSED
        assert said(socket, "/work", seat="no", do="lift flag").get("is_granted") is False
        assert picture(socket)["flag"]
        assert said(socket, "/work", seat=token, do="lift flag")["is_done"]
        until(lambda: picture(socket)["flag"] is None, "it to be lifted")
        assert state("red") == "STOPPED", "to lift it clears nothing and arms nothing"

        def arms():
            tandem("clear", "red")
            return tandem("arm", "red").returncode == 0

        until(arms, "the car to be armed again")
