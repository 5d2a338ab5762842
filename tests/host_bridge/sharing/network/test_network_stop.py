"""The stop of a car of another machine, in virtual time: where to, how often, what is told."""

from __future__ import annotations

import errno
import socket
from types import SimpleNamespace

import pytest

from firmware.protocol.messages import StopSeen
from host_bridge.core.errors import DeviceFault
from host_bridge.link.protocol import wire
from host_bridge.sharing.network.stops import network_stop
from host_bridge.sharing.network.stops.fleet_messages import (
    EVERY_CAR,
    FLEET_STOP,
    answer,
    parse_stop,
)
from host_bridge.sharing.network.stops.network_stop import stop_afar
from tests.support.evidence import every

URI = "tandem://red.local/red"


class Far:
    """A socket towards one address, and whoever is there."""

    def __init__(self, network, family) -> None:
        self.network = network
        self.family = family
        self.sent_s: list[float] = []
        self.waits: list[bytes | OSError] = []
        self.is_open = True
        self.address = ""

    def setblocking(self, blocks) -> None:
        assert blocks is False

    def connect(self, address) -> None:
        self.address = address
        if (
            isinstance(fault := self.network.hosts[address], OSError)
            and fault.errno == errno.EACCES
        ):
            raise fault

    def send(self, datagram) -> None:
        self.sent_s.append(self.network.now_s)
        assert len(datagram) == 64
        tag, frame = parse_stop(datagram)
        assert (datagram[0], tag) == (FLEET_STOP, EVERY_CAR)
        answers = self.network.hosts[self.address]
        if isinstance(answers, OSError):
            raise answers
        if len(self.sent_s) == answers:
            (stop,) = wire.MessageDecoder().feed(frame)
            fields = {"token": stop.token, "state": 4, "sender": 4}
            seen = wire.encode(wire.new(StopSeen, **fields, sender_name=bytes(16)))
            name = self.network.names.get(self.address, "red")
            self.waits += [b"noise", answer(bytes(8), name, seen)]
        elif answers == REFUSES:
            self.waits.append(ConnectionRefusedError())

    def recv(self, size):
        first = self.waits.pop(0)
        if isinstance(first, OSError):
            raise first
        return first

    def close(self) -> None:
        self.is_open = False


REFUSES = -1
LACKS = -2  # this machine has no such family of addresses


class Network:
    """Time goes on while somebody waits for an answer."""

    def __init__(self, monkeypatch) -> None:
        self.now_s = 50.0
        self.hosts: dict[str, int | OSError] = {}  # the how many-th stop each answers
        self.names: dict[str, str] = {}  # of cars that are not called red
        self.ends: list[Far] = []
        self.fault: Exception | None = None
        fakes = SimpleNamespace(getaddrinfo=self._look_up, socket=self._made, SOCK_DGRAM="udp")
        monkeypatch.setattr(network_stop, "socket", fakes)
        monkeypatch.setattr(network_stop, "select", SimpleNamespace(select=self._select))
        clock = SimpleNamespace(monotonic=lambda: self.now_s)
        monkeypatch.setattr(network_stop, "time", clock)
        monkeypatch.setattr("host_bridge.sharing.stop.stop_request.time", clock)

    def _look_up(self, host, port, type):  # noqa: A002 - as the library has it
        assert (host, port, type) == ("red.local", 27_410, "udp")
        if self.fault:
            raise self.fault
        return [
            (LACKS if answers == LACKS else "family", "udp", 17, "", address)
            for address, answers in self.hosts.items()
        ]

    def _made(self, *kind):
        assert kind[1:] == ("udp", 17)
        if kind[0] == LACKS:
            raise OSError(errno.EAFNOSUPPORT, "no such family")
        self.ends.append(Far(self, kind[0]))
        return self.ends[-1]

    def _select(self, ends, writes, errors, for_s):
        assert for_s >= 0.0
        ready = [end for end in ends if end.waits]
        self.now_s += 0.001 if ready else for_s
        return ready, [], []


@pytest.fixture
def network(monkeypatch):
    return Network(monkeypatch)


@pytest.mark.parametrize(
    "other",
    [0, REFUSES, OSError(errno.ENETUNREACH, "no route"), OSError(errno.EACCES, "not yours")],
)
@pytest.mark.parametrize("is_first", [True, False])
def test_a_host_is_asked_at_each_of_its_addresses(network, other, is_first):
    """A name has two where a machine speaks IPv6, and its car may listen at one of them."""
    hosts = [("there", 1), ("elsewhere", other)]
    network.hosts = dict(hosts if is_first else reversed(hosts))
    call = stop_afar(URI)
    assert (call.name, call.is_seen) == ("red", True)
    assert network.now_s - 50.0 < 0.02
    assert every(not end.is_open for end in network.ends)


def test_what_it_says_is_told_as_its_word(network):
    network.hosts = {"there": 1}
    call = stop_afar(URI)
    assert str(call).startswith("red (red.local): STOPPING, says so after ")
    assert "look" in str(call)
    assert call.row()["answer"] == "said"


@pytest.mark.parametrize(
    ("asked", "answered", "told"),
    [("", "blue", "blue"), ("a_long_name_of_a_car", "a_long_name_of_a", "a_long_name_of_a_car")],
)
def test_a_car_is_told_by_its_name(network, asked, answered, told):
    """An answer has sixteen bytes of it."""
    network.hosts, network.names = {"there": 1}, {"there": answered}
    assert stop_afar(f"tandem://red.local/{asked}").name == told


def test_another_car_at_that_address_is_not_told_as_the_one_that_was_meant(network):
    """Several cars of a host differ in their ports, and one port is usual."""
    network.hosts, network.names = {"there": 1}, {"there": "blue"}
    with pytest.raises(DeviceFault, match="another car is there, so red was not stopped") as raised:
        stop_afar(URI)
    assert (raised.value.expected, raised.value.got) == ("red", "blue, which was stopped")
    network.hosts = {"there": 1, "elsewhere": 3}
    assert stop_afar(URI).name == "red"


def test_it_is_said_every_20_ms_however_much_comes_back(network):
    network.hosts = {"refuses": REFUSES, "there": 6}
    assert stop_afar(URI).is_seen
    gaps = [b - a for end in network.ends for a, b in zip(end.sent_s, end.sent_s[1:], strict=False)]
    assert gaps == pytest.approx([0.02] * 10)


@pytest.mark.parametrize(
    ("hosts", "what", "got"),
    [
        ({"there": 0}, "no car acknowledged the stop within 1 s", "silence"),
        ({"there": REFUSES}, "no car acknowledged the stop within 1 s", "silence"),
        ({"there": OSError(errno.ENETUNREACH, "no route")}, "cannot be reached", "no route"),
        ({"there": OSError(errno.EACCES, "not yours")}, "cannot be reached", "not yours"),
        ({"there": LACKS}, "cannot be reached", "no such family"),
        ({}, "cannot be reached", "red.local has no address"),
        ({"a": 0, "b": OSError(errno.ENETUNREACH, "no route")}, "no car acknowledged", "silence"),
    ],
)
def test_a_host_that_does_not_answer_is_told_as_what_is_known_of_it(network, hosts, what, got):
    network.hosts = hosts
    with pytest.raises(DeviceFault) as raised:
        stop_afar(URI)
    assert what in raised.value.what
    assert (raised.value.got, raised.value.where) == (got, URI)
    assert "runstop" in raised.value.remedy
    assert not any(end.is_open for end in network.ends)


@pytest.mark.parametrize("fault", [socket.gaierror(-2, "Name not known"), UnicodeError("too long")])
def test_a_name_that_cannot_be_looked_up_is_told(network, fault):
    network.fault = fault
    with pytest.raises(DeviceFault, match="cannot be reached"):
        stop_afar(URI)


def test_a_way_that_is_lost_for_a_moment_is_tried_again(network):
    network.hosts = {"there": OSError(errno.ENETUNREACH, "no route")}
    real = network._select

    def select(ends, *rest):
        if network.now_s > 50.5:
            network.hosts["there"] = len(ends[0].sent_s) + 1
        return real(ends, *rest)

    network_stop.select.select = select
    assert stop_afar(URI).is_seen
