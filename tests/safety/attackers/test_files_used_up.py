"""Clients of a car's private socket were left behind until its owner has no file for one more: any
login stops the car all the same, and who is in goes on."""

from __future__ import annotations

import json
import os
import resource
import socket
import time

import pytest

from host_bridge.sharing.endpoints.served import socket_path
from host_bridge.sharing.stop.reserve import KEPT_FOR_STOP
from tests.host_bridge.cli.programs import serving, tandem
from tests.safety.attackers import logins, tries
from tests.safety.attackers.attack import Notes, attacking

pytestmark = [pytest.mark.process, logins.as_root]
FILES, LEFT = 256, 400


def leave_behind(notes: Notes, path: str, count: int) -> None:
    """So many clients that say nothing, until killed; who finds the queue full waits there. What it
    did are connections and looks at them; it holds those that are open."""
    ends = []
    for _ in range(count):
        end = socket.socket(socket.AF_UNIX)
        end.connect(path)
        ends.append(end)
    done = count
    while True:
        done += 1
        notes.holds(len(ends))
        notes.did(done)
        time.sleep(0.1)


@pytest.mark.exhaustive
@pytest.mark.timeout(900)
@pytest.mark.parametrize("count", [12, 300])
def test_a_third_login_stops_a_car_whose_owner_has_no_file_left_for_clients(shared, count):
    with serving("sim://nigel", "car") as owner:
        resource.prlimit(owner.pid, resource.RLIMIT_NOFILE, (FILES, FILES))
        control = tries.tried(count, "car")
        path = str(socket_path("car"))
        with attacking(1, leave_behind, path, LEFT, uid=os.getuid()) as attack:
            attacked = attack.beside(lambda: tries.tried(count, "car"))
            stopped = tries.program("car")
            used = len(os.listdir(f"/proc/{owner.pid}/fd"))
        rows = json.loads(tandem("cars", "--json").stdout)
    what = f"clients and looks at them; the owner has {used} files open of {FILES}"
    tries.judged(control, attacked, attack.told(what))
    assert used >= FILES - KEPT_FOR_STOP, "all but those that are kept for Stop are used up"
    assert stopped.returncode == 0, stopped.stderr
    assert [row["name"] for row in rows] == ["car"]
