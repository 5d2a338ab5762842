"""Another login takes the other address of the loopback: a browser would find its "Stop" there."""

from __future__ import annotations

import contextlib
import http.client
import socket
import time

import pytest

from host_bridge.core.errors import DeviceFault
from host_bridge.station.server.page_files import BAR, page_file
from tests.host_bridge.cli.programs import program, serving
from tests.safety.attackers import logins, tries
from tests.safety.attackers.attack import Notes, attacking
from tests.safety.attackers.test_station_crowded import page, station
from tests.support import patience
from tests.support.evidence import every

pytestmark = [pytest.mark.process, logins.as_root]
FLAGS = ((), ("SO_REUSEADDR",), ("SO_REUSEPORT",), ("SO_REUSEADDR", "SO_REUSEPORT"))
ADDRESSES = ((socket.AF_INET6, "::1"), (socket.AF_INET6, "::"), (socket.AF_INET, "127.0.0.1"))
WAYS = len(FLAGS) * len(ADDRESSES)
_TURN_S = 0.05
_PATIENCE_S = 45.0


def take(count: int, port: int) -> dict[str, int]:
    """Try so often to listen at each address in each way: how many of the tries there were, and
    how many got it."""
    tried = got = 0
    for place in range(count):
        family, address = ADDRESSES[place % len(ADDRESSES)]
        with socket.socket(family) as end:
            if address == "::":
                end.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
            for flag in FLAGS[place // len(ADDRESSES) % len(FLAGS)]:
                end.setsockopt(socket.SOL_SOCKET, getattr(socket, flag), 1)
            tried += 1
            with contextlib.suppress(OSError):
                end.bind((address, port))
                end.listen()
                got += 1
    return {"tries": tried, "got": got}


def cover(notes: Notes, port: int) -> None:
    """Try all of it again and again until killed. What it did are tries; it holds what it got."""
    tried = got = 0
    while True:
        row = take(WAYS, port)
        tried, got = tried + row["tries"], got + row["got"]
        notes.holds(got)
        notes.did(tried)
        time.sleep(_TURN_S)


def hold(port: int) -> None:
    """Listen at [::1] until killed."""
    with socket.socket(socket.AF_INET6) as end:
        end.bind(("::1", port))
        end.listen()
        time.sleep(logins.WITHIN_S)


def is_taken(port: int) -> bool:
    with socket.socket(socket.AF_INET6) as end:
        return end.connect_ex(("::1", port)) == 0


def bars(count: int, port: int) -> tries.Tries:
    """Ask for the bar so often, at the name by which the page frames it: how long it took until it
    was there. Raises AssertionError for anybody else's."""
    own, rows = page_file(BAR, "", "", "").body, []
    for _ in range(count):
        begun_s = time.monotonic()
        asked = http.client.HTTPConnection("localhost", port, timeout=_PATIENCE_S)
        try:
            asked.request("GET", BAR)
            assert asked.getresponse().read() == own
        finally:
            asked.close()
        rows.append((begun_s, (time.monotonic() - begun_s) * 1e3))
        time.sleep(tries.PAUSE_S)
    return tries.of(rows)


@pytest.mark.exhaustive
@pytest.mark.timeout(900)
@pytest.mark.parametrize("count", [12, 300])
def test_nobody_gets_an_address_of_the_page_while_the_station_runs(shared, count):
    port = tries.free_port()
    with logins.working(logins.ATTACKER, take, 300, port) as work:
        assert work.answer() == {"tries": 300, "got": 300}, "without a station each is had"
    with serving("sim://nigel", "car"), station(port) as running, page(port) as opened:

        def pressed() -> dict[str, tries.Tries]:
            return {**opened.pressed(count), "its bar": bars(count, port)}

        control = pressed()
        with attacking(1, cover, port) as attack:
            attacked = attack.beside(pressed)
        assert running.poll() is None
    told = attack.told("tries to listen at an address of the page")
    for way, found in attacked.items():
        tries.page_judged(control[way], found, f"{told}\n  the page's Stop by {way}")
    assert attack.looks[-1].did[0] >= count
    assert every(look.held == (0,) for look in attack.looks), "not one was had"


def test_a_station_whose_bar_would_be_another_login_s_does_not_start(shared):
    port = tries.free_port()
    with logins.working(logins.ATTACKER, hold, port):
        patience.until(lambda: is_taken(port), "the attacker", 30.0)
        with program("station", "--port", str(port), "--no-plots") as refused:
            out, complaint = patience.communicate(refused, 45)
    assert refused.returncode == DeviceFault.exit_code
    assert out == ""
    assert f"[::1]:{port}" in complaint
    assert "Stop of its own" in complaint
