"""Another login takes the other address of the loopback: a browser would find its "Stop" there."""

from __future__ import annotations

import contextlib
import socket
import time

import pytest

from host_bridge.core.errors import DeviceFault
from tests.host_bridge.cli.programs import program
from tests.safety.attackers import logins
from tests.support import patience

pytestmark = [pytest.mark.process, logins.as_root]
FLAGS = ((), ("SO_REUSEADDR",), ("SO_REUSEPORT",), ("SO_REUSEADDR", "SO_REUSEPORT"))
ADDRESSES = ((socket.AF_INET6, "::1"), (socket.AF_INET6, "::"), (socket.AF_INET, "127.0.0.1"))


def free_port() -> int:
    """Both of its addresses are free."""
    with socket.socket(socket.AF_INET) as end, socket.socket(socket.AF_INET6) as other:
        end.bind(("127.0.0.1", 0))
        other.bind(("::1", end.getsockname()[1]))
        return end.getsockname()[1]


def take(count: int, port: int) -> dict[str, int]:
    """Try so often to listen at each address in each way: how many of the tries there were, and
    how many got it."""
    tries = got = 0
    for place in range(count):
        family, address = ADDRESSES[place % len(ADDRESSES)]
        with socket.socket(family) as end:
            if address == "::":
                end.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
            for flag in FLAGS[place // len(ADDRESSES) % len(FLAGS)]:
                end.setsockopt(socket.SOL_SOCKET, getattr(socket, flag), 1)
            tries += 1
            with contextlib.suppress(OSError):
                end.bind((address, port))
                end.listen()
                got += 1
    return {"tries": tries, "got": got}


def hold(port: int) -> None:
    """Listen at [::1] until killed."""
    with socket.socket(socket.AF_INET6) as end:
        end.bind(("::1", port))
        end.listen()
        time.sleep(logins.WITHIN_S)


def is_taken(port: int) -> bool:
    with socket.socket(socket.AF_INET6) as end:
        return end.connect_ex(("::1", port)) == 0


@pytest.mark.exhaustive
@pytest.mark.parametrize("count", [24, 300])
def test_nobody_gets_an_address_of_the_page_while_the_station_runs(shared, count):
    port = free_port()
    with logins.working(logins.ATTACKER, take, count, port) as work:
        control = work.answer()
    with program("station", "--port", str(port), "--no-plots") as station:
        assert station.stdout.readline().startswith(f"http://127.0.0.1:{port}/")
        with logins.working(logins.ATTACKER, take, count, port) as work:
            attacked = work.answer()
        assert station.poll() is None
    logins.say(f"listening at an address of the page: control {control}, attacked {attacked}")
    assert control == {"tries": count, "got": count}
    assert attacked == {"tries": count, "got": 0}


def test_a_station_whose_bar_would_be_another_login_s_does_not_start(shared):
    port = free_port()
    with logins.working(logins.ATTACKER, hold, port):
        patience.until(lambda: is_taken(port), "the attacker", 30.0)
        with program("station", "--port", str(port), "--no-plots") as station:
            out, complaint = patience.communicate(station, 45)
    assert station.returncode == DeviceFault.exit_code
    assert out == ""
    assert f"[::1]:{port}" in complaint
    assert "Stop of its own" in complaint
