"""Cars are found between network namespaces; a forged announcement gets nobody in."""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

import pytest

from host_bridge.link.protocol.wire import own_protocol_hash
from tests.host_bridge.sharing.network.air.field import Login, Program, invite, served
from tests.host_bridge.sharing.network.air.hub import Hub
from tests.ros.reaction.line import why_not
from tests.support import patience

pytestmark = [
    pytest.mark.process,
    pytest.mark.skipif(bool(why_not()), reason=f"no air between namespaces here: {why_not()}"),
    pytest.mark.skipif(sys.version_info < (3, 11), reason="zeroconf is for Python 3.11 and newer"),
    pytest.mark.xdist_group("wall clock"),
]
CAR, GUEST, EVIL = range(3)


@pytest.fixture
def logins():
    with tempfile.TemporaryDirectory(prefix="air-") as folder, Hub(3, 3, 600.0) as hub:
        names = ("car", "guest", "evil")
        yield [Login(hub.hosts[it], Path(folder) / name) for it, name in enumerate(names)]


def nearby(login):
    return json.loads(login.said("cars", "--nearby", "--json", "--for", "3"))


def watches(login, uri):
    """A busy machine may lose its own virtual car for a moment."""
    patience.until(
        lambda: "PARKED" in login.run("monitor", uri, "--seconds", "1").stdout, "the car", 60.0
    )


def test_a_car_is_found_while_it_listens_and_only_if_it_may_be(logins):
    owner, guest, _ = logins
    with served(owner, "sim://nigel", "red", owner.host.ipv4):
        invite(owner, guest, "red", "watch")
        (row,) = nearby(guest)
        assert row["name"] == "red"
        assert row["uri"] == f"tandem://{owner.host.ipv4}/red"
        assert row["vehicle"] == "nigel"
        assert row["token"] == "watch"
        assert row["is_same_protocol"]
        watches(guest, row["uri"])
        assert "red" in guest.said("cars", "--nearby")
    patience.until(lambda: nearby(guest) == [], "its farewell", 60.0)
    for words in (("0.0.0.0", "--no-announce"), ("127.0.0.1",)):
        with served(owner, "sim://nigel", "red", *words):
            assert nearby(guest) == []
    with served(owner, "sim://nigel", "red", "0.0.0.0"):
        (row,) = nearby(guest)
        assert row["uri"] == f"tandem://{owner.host.ipv4}/red"
        assert row["board_id"]


def test_a_forged_announcement_gets_nobody_in(logins):
    """Neither into the car, nor to believe that the forger's host is the car's."""
    owner, guest, evil = logins
    with served(owner, "sim://nigel", "red", owner.host.ipv4):
        invite(owner, guest, "red", "drive")
        board = nearby(guest)[0]["board_id"]
        module = "tests.host_bridge.sharing.discovery.forger"
        words = (sys.executable, "-m", module, "red", board, evil.host.ipv4, "27410")
        forger = Program(evil.host.words(*words), evil.environment)
        try:
            forger.line_with("announced")
            rows = {row["uri"]: row for row in nearby(guest)}
            forged = f"tandem://{evil.host.ipv4}/red"
            assert {f"tandem://{owner.host.ipv4}/red", forged} == set(rows)
            assert rows[forged]["board_id"] == board  # anybody may say so
            tried = guest.run("monitor", forged, "--seconds", "1")
            assert tried.returncode != 0, tried.stdout
            assert "PARKED" not in tried.stdout
            forger.line_with("heard 0x10")  # a HELLO, which has no secret in it
            # The forger's own login has no token, and its announcement is none
            tried = evil.run("monitor", f"tandem://{owner.host.ipv4}/red", "--seconds", "1")
            assert tried.returncode != 0
            assert "nobody has invited you" in tried.stderr
            watches(guest, f"tandem://{owner.host.ipv4}/red")
        finally:
            forger.end()


def test_what_nobody_announces_as_a_car_is_not_listed(logins):
    _, guest, evil = logins
    text = "red of Ada"  # a space, which no URI has
    script = (
        "import asyncio, dataclasses, sys\n"
        "from host_bridge.sharing.discovery.announcement import announcement_of\n"
        "from host_bridge.sharing.discovery.announcer import announced\n"
        "async def main():\n"
        f"    car = announcement_of('red', '0102030405060708', {own_protocol_hash()!r}, 'a', 0)\n"
        f"    car = dataclasses.replace(car, name={text!r})\n"
        f"    async with announced(car, ({evil.host.ipv4!r}, 27410), print):\n"
        "        print('announced', flush=True)\n"
        "        await asyncio.sleep(3600)\n"
        "asyncio.run(main())\n"
    )
    forger = Program(evil.host.words(sys.executable, "-c", script), evil.environment)
    try:
        forger.line_with("announced")
        assert nearby(guest) == []
    finally:
        forger.end()
