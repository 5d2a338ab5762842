"""The other address of the loopback is taken, and nobody is answered there."""

from __future__ import annotations

import errno
import os
import socket

import pytest

from host_bridge.core.errors import DeviceFault
from host_bridge.station.server import reserve_ports as loopback
from host_bridge.station.server.reserve_ports import is_own_listener, reserved_ports


def free_port() -> int:
    with socket.socket(socket.AF_INET6) as end:
        end.bind(("::1", 0))
        return end.getsockname()[1]


def bound(port: int, *options: int) -> int:
    """The error of somebody else who binds it, 0 for none."""
    with socket.socket(socket.AF_INET6) as end:
        for option in options:
            end.setsockopt(socket.SOL_SOCKET, option, 1)
        try:
            end.bind(("::1", port))
            end.listen()
        except OSError as error:
            return error.errno or -1
    return 0


def test_nobody_else_has_it_meanwhile_and_afterwards_they_may():
    ports = free_port(), free_port()
    with reserved_ports(ports):
        for port in ports:
            assert bound(port) == errno.EADDRINUSE
            assert bound(port, socket.SO_REUSEADDR) == errno.EADDRINUSE
            assert bound(port, socket.SO_REUSEADDR, socket.SO_REUSEPORT) == errno.EADDRINUSE
            with socket.socket(socket.AF_INET6) as end, pytest.raises(ConnectionRefusedError):
                end.connect(("::1", port))
    assert [bound(port) for port in ports] == [0, 0]


def test_one_that_somebody_has_is_refused_in_words_and_the_others_are_let_go():
    free, taken = free_port(), free_port()
    with socket.socket(socket.AF_INET6) as theirs:
        theirs.bind(("::1", taken))
        theirs.listen()
        with pytest.raises(DeviceFault) as raised, reserved_ports([free, taken]):
            pytest.fail("it is taken")
    fault = raised.value
    assert fault.where == f"[::1]:{taken}"
    assert fault.got == "Address already in use"
    assert "a Stop of its own" in fault.expected
    assert f"sport = :{taken}" in fault.remedy
    assert "--port N" in fault.remedy
    assert bound(free) == 0


@pytest.mark.parametrize("lack", [errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT, errno.EPROTONOSUPPORT])
def test_where_there_is_no_ipv6_nothing_is_held(monkeypatch, lack):
    def none(*kind):
        raise OSError(lack, "no IPv6")

    monkeypatch.setattr(loopback.socket, "socket", none)
    with reserved_ports([1, 2]):
        pass


def test_who_listens_is_told_by_the_system_and_not_by_who_answers(monkeypatch, tmp_path):
    with socket.socket() as end:
        end.bind(("127.0.0.1", 0))
        port = end.getsockname()[1]
        assert not is_own_listener(port), "nobody listens"
        end.listen()
        assert is_own_listener(port)
        own = os.getuid
        monkeypatch.setattr(loopback.os, "getuid", lambda: own() + 1)
        assert not is_own_listener(port)
    monkeypatch.setattr(loopback, "_LISTENERS", str(tmp_path / "nowhere"))
    assert is_own_listener(port)
