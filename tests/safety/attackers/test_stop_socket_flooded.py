"""Another login connects to a car's stop socket and leaves it again, as fast as it can, in many
threads: a third login stops the car as soon as without."""

from __future__ import annotations

import contextlib
import os
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import patience
from tests.host_bridge.programs import serving
from tests.safety.attackers import logins, tries

pytestmark = [pytest.mark.process, logins.as_root]
# The first is in `make test`, the rest in `make nightly`: tries, threads
CASES = [(12, 8), (300, 1), (300, 2), (300, 8), (300, 70)]


def flood(path: str, threads: int, counted: int) -> None:
    """Connect and leave until killed; each connection that was made is counted, by one byte."""
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
        os.pwrite(counted, f"{sum(made):12}".encode(), 0)


@contextlib.contextmanager
def flooding(path: Path, threads: int, notes: Path) -> Iterator[logins.Work]:
    """The flood, from when it has made its first connections."""
    counted = os.open(notes, os.O_RDWR | os.O_CREAT)
    with logins.working(logins.ATTACKER, flood, str(path), threads, counted) as work:
        patience.until(lambda: connections(notes) > 20, "the flood", 30.0)
        yield work
        assert work.is_running()
    os.close(counted)


def connections(notes: Path) -> int:
    return int(notes.read_text() or 0)


@pytest.mark.exhaustive
@pytest.mark.timeout(900)
@pytest.mark.parametrize(("count", "threads"), CASES)
def test_a_third_login_stops_the_car_as_soon_as_without_a_flood(shared, tmp_path, count, threads):
    notes = tmp_path / "connections"
    with serving("sim://nigel", "car"):
        (path,) = shared.iterdir()
        control = tries.tried(count, "car")
        with flooding(path, threads, notes) as work:
            before, begun_s = connections(notes), time.monotonic()
            attacked = tries.tried(count, "car")
            rate = (connections(notes) - before) / (time.monotonic() - begun_s)
            stopped = tries.program("car")
    tries.judged(
        control, attacked,
        f"a flood by process {work.pid} of login {logins.ATTACKER}, {threads} threads: "
        f"{rate:.0f} connections a second",
    )  # fmt: skip
    assert stopped.returncode == 0, stopped.stderr
    assert "acknowledged" in stopped.stdout
