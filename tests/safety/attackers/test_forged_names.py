"""Another login lays 20,000 names of stop sockets into the folder: a third login stops the car as
soon as without."""

from __future__ import annotations

import os
import socket
import time

import pytest

from tests.host_bridge.cli.programs import serving
from tests.safety.attackers import logins, tries
from tests.safety.attackers.attack import Notes, attacking

pytestmark = [pytest.mark.process, logins.as_root]
FORGED, PROCESSES = 20_000, 4  # together, so that each has files for its own
# Links cost nothing to look at, sockets do; those that listen are connected to as well
KINDS = ("links", "dead sockets", "listening sockets")
_TURN_S = 0.2
_CPU_S = 0.2  # of one try: each name is looked at


def forge(notes: Notes, folder: str, kind: str, count: int) -> None:
    """Lay so many names there, and one anew now and then until killed. What it did are names; it
    holds those sockets that listen."""
    kept = [lay(folder, kind, place) for place in range(count)]
    made = count
    while True:
        notes.holds(sum(end is not None for end in kept))
        notes.did(made)
        time.sleep(_TURN_S)
        kept.append(lay(folder, kind, made))
        made += 1


def lay(folder: str, kind: str, place: int) -> socket.socket | None:
    """Lay one name there; the socket, if it has to be kept."""
    path = os.path.join(folder, f"tandem-stop.a.00000000.{os.getpid():08x}.{place:08x}")
    if kind == "links":
        os.symlink("x", path)
        return None
    end = socket.socket(socket.AF_UNIX)
    end.bind(path)
    os.chmod(path, 0o666)
    if kind == "dead sockets":
        end.close()
        return None
    end.listen(1)
    return end


@pytest.mark.exhaustive
@pytest.mark.timeout(900)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("count", [12, 300])
def test_a_third_login_stops_the_car_as_soon_as_without_20000_names(shared, count, kind):
    with serving("sim://nigel", "car"):
        control = tries.tried(count, "car")
        with attacking(PROCESSES, forge, str(shared), kind, FORGED // PROCESSES) as attack:
            attacked = attack.beside(lambda: tries.tried(count, "car"))
            there = len(os.listdir(shared))
            stopped = tries.program("car")
    tries.judged(control, attacked, attack.told(f"names forged ({kind}), {there} there"), _CPU_S)
    assert there > FORGED
    assert stopped.returncode == 0, stopped.stderr
