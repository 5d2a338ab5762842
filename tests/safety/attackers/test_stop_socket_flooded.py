"""Another login connects to a car's stop socket and leaves it again, as fast as it can, in many
threads: a third login stops the car as soon as without."""

from __future__ import annotations

import contextlib
import os
import socket
import threading
import time

import pytest

from tests.host_bridge.cli.programs import serving
from tests.safety.attackers import logins, tries
from tests.safety.attackers.attack import Notes, attacking

pytestmark = [pytest.mark.process, logins.as_root]
# The first is in `make test`, the rest in `make nightly`: tries, threads
CASES = [(12, 8), (300, 1), (300, 2), (300, 8), (300, 70)]


def flood(notes: Notes, path: str, threads: int) -> None:
    """Connect and leave until killed. What it did are connections."""
    made = [0] * threads

    def one(place: int) -> None:
        while True:
            with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX) as end:
                end.connect(path)
                made[place] += 1

    os.nice(19)
    for place in range(threads):
        threading.Thread(target=one, args=(place,), daemon=True).start()
    while True:
        time.sleep(0.05)
        notes.did(sum(made))


@pytest.mark.exhaustive
@pytest.mark.timeout(900)
@pytest.mark.parametrize(("count", "threads"), CASES)
def test_a_third_login_stops_the_car_as_soon_as_without_a_flood(shared, count, threads):
    with serving("sim://nigel", "car"):
        (path,) = shared.iterdir()
        control = tries.tried(count, "car")
        with attacking(1, flood, str(path), threads) as attack:
            attacked = attack.beside(lambda: tries.tried(count, "car"))
            stopped = tries.program("car")
    tries.judged(control, attacked, attack.told(f"connections by {threads} threads"))
    assert stopped.returncode == 0, stopped.stderr
    assert "acknowledged" in stopped.stdout
