"""Who serves a car: what becomes of one that is armed when its line is new, or its owner ends.

The virtual car with the real program, in virtual time; another host drives it."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from types import SimpleNamespace

import pytest

from host_bridge.core import CarIdentity, Sender, State
from host_bridge.link.protocol.events import LinkLost, LinkStranger
from host_bridge.link.transports import loopback
from host_bridge.sharing.owner import car_server
from host_bridge.sharing.owner.board_verification import BoardTrust
from host_bridge.sharing.owner.car_server import CarServer
from tests.host_bridge.drive.drives import Drive, Rig


class Served:
    """A car that somebody else drives, and a service that hears and tells it the same wire."""

    def __init__(self, uri: str = "sim://f1tenth") -> None:
        self.drive = Drive(Rig("a"))
        near, _ = loopback.pair("loopback://car")
        self.recognised: list[CarIdentity] = []
        self.service = CarServer(uri, near, self, self.recognised.append)
        self.service.car.on_output(lambda: None)  # what it says waits for ``advance``
        self.is_heard = False
        self.drive.rigs[0].up = self._hear

    def now_us(self) -> int:
        return self.drive.now_us

    def open(self) -> None:
        self.service.car.opened(self.drive.now_us)
        self.is_heard = True

    def _hear(self, data: bytes) -> bytes:
        if self.is_heard:
            self.service._hear(self.service.car.receive_data(data, self.drive.now_us))
        return data

    def advance(self, seconds: float) -> None:
        for _ in range(round(seconds * 1000)):
            self.service.car.step(self.drive.now_us)
            self.drive.rigs[0].world.feed(self.service.car.data_to_send())
            self.drive.advance(0.001)

    def goes(self) -> Served:
        self.drive.arm()
        self.drive.go(1.0)
        self.drive.advance(0.5)
        assert self.drive.is_in(State.ACTIVE)
        return self

    def was_stopped_by(self) -> list[tuple[Sender, str]]:
        stops = self.service.car._stops
        return [(stop.sender, stop.sender_name) for stop in stops]

    async def close(self, monkeypatch) -> float:
        """How long it took."""
        began_us = self.drive.now_us

        async def sleep(seconds: float) -> None:
            self.advance(seconds)

        monkeypatch.setattr(car_server.asyncio, "sleep", sleep)
        await self.service.close()
        return (self.drive.now_us - began_us) * 1e-6


@pytest.fixture
def served() -> Served:
    return Served()


def test_a_car_that_is_armed_already_when_its_line_is_new_is_stopped_once(served):
    served.goes().open()
    served.advance(0.05)
    assert served.drive.is_in(State.STOPPING) or served.drive.is_in(State.STOPPED)
    assert len(served.recognised) == 1
    served.drive.until(lambda: served.drive.is_in(State.STOPPED), 5.0)
    served.advance(0.1)
    assert served.was_stopped_by() == []  # acknowledged, and not said again


def test_a_car_that_is_armed_on_a_line_that_was_there_before_goes_on(served):
    served.open()
    served.advance(0.1)
    served.goes()
    served.advance(0.5)
    assert served.drive.is_in(State.ACTIVE)


@pytest.mark.parametrize("is_back", [True, False])
def test_a_cable_that_was_out_makes_the_line_new_once_it_is_in_again(served, is_back):
    served.open()
    served.advance(0.1)
    served.goes()
    served.service._line_changed(OSError("unplugged"))
    served.advance(0.05)
    assert served.drive.is_in(State.ACTIVE)  # nothing is heard over a line that is out
    if is_back:
        served.service._line_changed(None)
    served.advance(0.05)
    assert served.drive.is_in(State.ACTIVE) is not is_back


def test_an_owner_that_ends_stops_its_armed_car_and_waits_until_it_has_seen_it(served, monkeypatch):
    served.open()
    served.advance(0.1)
    served.goes()
    took_s = asyncio.run(served.close(monkeypatch))
    assert 0.0 < took_s < 0.06
    assert served.drive.is_in(State.STOPPING)


def test_an_owner_whose_car_does_not_answer_waits_a_moment_and_no_longer(served, monkeypatch):
    served.open()
    served.advance(0.1)
    served.goes()
    served.drive.rigs[0].is_plugged = False
    served.service.car.step = lambda now_us: []
    took_s = asyncio.run(served.close(monkeypatch))
    assert took_s == pytest.approx(0.3, abs=0.001)
    assert served.was_stopped_by() == [(Sender.OWNER, "owner ended")]


def test_an_owner_that_ends_leaves_a_car_that_is_not_armed_as_it_is(served, monkeypatch):
    served.open()
    served.drive.bind()
    assert asyncio.run(served.close(monkeypatch)) == 0.0
    assert served.was_stopped_by() == []
    served.advance(0.1)
    assert served.drive.is_in(State.STANDBY)


def test_an_owner_whose_line_is_out_waits_for_nobody(served, monkeypatch):
    served.open()
    served.advance(0.1)
    served.goes()
    served.service.car.closed(served.drive.now_us)
    assert asyncio.run(served.close(monkeypatch)) == 0.0
    assert served.was_stopped_by() == []


def test_an_owner_that_knows_who_its_car_is_and_not_yet_how_it_is_just_ends(served, monkeypatch):
    served.open()
    served.service.car.is_online = lambda: True
    assert served.service.car.status is None
    assert asyncio.run(served.close(monkeypatch)) == 0.0


class Stuck:
    """A socket whose folder is gone when it is to be closed."""

    def close(self) -> None:
        raise OSError("its folder is gone")


def test_an_owner_stops_its_car_and_lets_go_of_the_line_whatever_its_sockets_do(
    served, monkeypatch
):
    served.open()
    served.advance(0.1)
    served.goes()
    closed = []
    monkeypatch.setattr(served.service.owner, "close", lambda: closed.append("line"))
    monkeypatch.setattr(car_server, "withdraw", lambda name: closed.append("name"))
    served.service._endpoints[:] = [Stuck(), SimpleNamespace(close=lambda: closed.append("one"))]
    with pytest.raises(OSError, match="folder is gone"):
        asyncio.run(served.close(monkeypatch))
    assert served.drive.is_in(State.STOPPING)
    assert closed == ["one", "name", "line"]


# --- a car that another computer serves: its own owner stops it, and knows when


@pytest.fixture
def guest() -> Served:
    return Served("tandem://192.0.2.7:8031/car")


def test_a_guest_stops_no_armed_car_because_its_own_line_is_new(guest):
    guest.goes().open()
    guest.advance(0.1)
    assert guest.drive.is_in(State.ACTIVE)
    assert guest.was_stopped_by() == []


def test_a_guest_that_ends_leaves_an_armed_car_to_its_owner(guest, monkeypatch):
    guest.open()
    guest.advance(0.1)
    guest.goes()
    assert asyncio.run(guest.close(monkeypatch)) == 0.0
    guest.advance(0.1)
    assert guest.drive.is_in(State.ACTIVE)


# --- whose board it is


def test_after_a_silence_the_next_board_is_unknown_until_it_says_who_it_is(served):
    served.open()
    served.advance(0.1)
    assert served.service.owner.verification.state is BoardTrust.TRUSTED
    served.service._hear([LinkLost(1_000_000)])
    assert served.service.owner.verification.state is BoardTrust.UNVERIFIED
    served.advance(1.5)
    assert served.service.owner.verification.state is BoardTrust.TRUSTED


def test_another_board_may_be_stopped_and_nothing_else(served):
    served.open()
    served.advance(0.1)
    (identity,) = served.recognised
    served.service._hear([LinkStranger(replace(identity, board_id=b"another!"))])
    assert served.service.owner.verification.state is BoardTrust.FOREIGN
