"""A fleet is stopped on other hosts through bad air: its cars and no other, proven where we can."""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

import pytest

from tests.host_bridge.sharing.network.air.field import Program, invite
from tests.host_bridge.sharing.network.air.fleet import AIR, call, fleet_of
from tests.host_bridge.sharing.network.air.hub import CLEAR, Hub, both_ways
from tests.host_bridge.sharing.network.air.measured import quantile
from tests.ros.reaction.impairment import CUT
from tests.ros.reaction.line import why_not
from tests.support.evidence import every

pytestmark = [
    pytest.mark.process,
    pytest.mark.skipif(bool(why_not()), reason=f"no air between namespaces here: {why_not()}"),
    pytest.mark.xdist_group("wall clock"),
]
FLEETS = ["red", "red", "blue"]
PAGE_NAMES = {f"car{it}": f"car{it} (10.99.0.{it + 1})" for it in range(len(FLEETS))}
CALLS = 20
PRESSED = """
import json, sys
from websockets.sync.client import connect
with connect("ws://127.0.0.1:8090/stop") as page:
    page.send(json.dumps({"cars": [], "token": 1}))
    while True:
        print(page.recv(), flush=True)
"""
WITHIN_MS = 150.0


def test_a_fleet_is_stopped_and_no_other_car_and_who_is_silent_is_named():
    with (
        tempfile.TemporaryDirectory(prefix="air-") as folder,
        Hub(2, len(FLEETS) + 1, 600.0) as hub,
        fleet_of(hub, Path(folder), FLEETS) as logins,
    ):
        *owners, ops = logins
        host = hub.hosts[0]
        invite(owners[0], ops, "car0", "stop")
        ops.said("identify", f"tandem://{host.ipv4}/car0")  # so its place and fleet are known
        for place in range(len(logins)):
            both_ways(hub, place, AIR)
        stopped = ops.run("stop", "--fleet", "red", "--json")
        rows = {row["name"]: row for row in json.loads(stopped.stdout)}
        assert stopped.returncode == 0, stopped
        assert {name: row["answer"] for name, row in rows.items()} == {
            "car0": "proven", "car1": "said"
        }  # fmt: skip
        calls = call(ops, "red", CALLS)
        said = [row[name][1] for row in calls for name in ("car0", "car1")]
        assert every(ms is not None for ms in said)
        assert (quantile(said, 0.5) or 1e9) < WITHIN_MS
        both_ways(hub, 0, CUT)
        both_ways(hub, 1, CLEAR)
        silent = ops.run("stop", "--fleet", "red")
        assert silent.returncode != 0
        assert "car0 (10.99.0.1): SILENT for 10 s" in silent.stderr
        assert "1 of 2 cars have answered; car0 not for" in silent.stderr
        assert "car1" in silent.stdout
        everywhere = ops.run("stop", "--all-networks", "--json")
        assert {row["name"] for row in json.loads(everywhere.stdout)} == {"car0", "car1", "car2"}


def test_the_pages_stop_stops_a_fleet_on_other_machines_and_names_who_is_silent():
    with (
        tempfile.TemporaryDirectory(prefix="air-") as folder,
        Hub(2, len(FLEETS) + 1, 600.0) as hub,
        fleet_of(hub, Path(folder), FLEETS) as logins,
    ):
        *owners, ops = logins
        invite(owners[0], ops, "car0", "stop")
        ops.said("identify", f"tandem://{hub.hosts[0].ipv4}/car0")
        station = ops.start("station", "--fleet", "red", "--no-plots", "--watch-only")
        try:
            station.line_with("http://127.0.0.1:8090/")
            rows = pressed(ops, ("car0", "proven"), ("car1", "said"))
            assert PAGE_NAMES["car2"] not in rows, "another fleet's"
            told = [owners[it].said("monitor", f"car{it}", "--seconds", "1") for it in range(3)]
            assert ["STOPPED" in words for words in told] == [True, True, False], told
            both_ways(hub, 0, CUT)
            rows = pressed(ops, ("car0", "silent"), ("car1", "said"))
            assert not rows[PAGE_NAMES["car0"]]["is_seen"]
            assert "not proven yet" in rows[PAGE_NAMES["car0"]]["text"]
        finally:
            both_ways(hub, 0, CLEAR)
            station.end()


def pressed(ops, *answers):
    """Press the page's Stop; return the newest row of each car, once each has this answer."""
    page = Program(ops.host.words(sys.executable, "-c", PRESSED), ops.environment)
    rows = {}
    wanted = {PAGE_NAMES[name]: answer for name, answer in answers}
    try:
        while {name: rows.get(name, {}).get("answer") for name in wanted} != wanted:
            row = json.loads(page.line_with("{"))
            rows[row["name"]] = row
    finally:
        page.process.kill()
        page.wait()
    return rows
