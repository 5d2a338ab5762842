"""A fleet is stopped on other hosts through bad air: its cars and no other, proven where we can."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

import pytest

from tests.host_bridge.sharing.network.air.field import invite
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
CALLS = 20
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
