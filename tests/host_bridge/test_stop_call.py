"""``tandem stop`` without its processes: who is told, how often, and when that is enough.

Real sockets, whose other ends are the owners'; virtual time."""

from __future__ import annotations

import json
import os
import select
import socket
from types import SimpleNamespace

import pytest

from firmware.protocol.messages import Stop, StopSeen
from host_bridge import quick_stop
from host_bridge.domain import State
from host_bridge.errors import DeviceFault
from host_bridge.link import wire
from host_bridge.transports.stop_sockets import StopSocket, tag

AFTER_S = 0.03


class Owner:
    """Of one car. Answers so long after it was told; None: never."""

    def __init__(self, name, after_s=AFTER_S, fleet="", uri="", uid=None) -> None:
        self.socket = StopSocket(f"/run/{name}", name, tag(fleet), tag(uri))
        self.socket.uid = os.getuid() if uid is None else uid
        self.socket.pid = 4711
        self.socket.end, self.end = socket.socketpair()
        self.socket.end.setblocking(False)
        self.end.setblocking(False)
        self.after_s = after_s
        self.told: list[float] = []
        self.stops: list[Stop] = []
        self._decoder = wire.Decoder()

    def step(self, now_s) -> None:
        try:
            data = self.end.recv(4096)
        except OSError:
            data = b""
        for stop in self._decoder.feed(data):
            assert isinstance(stop, Stop)
            self.told.append(now_s)
            self.stops.append(stop)
        if self.told and self.after_s is not None and now_s - self.told[0] >= self.after_s:
            self.answer(self.stops[0].token)
            self.after_s = None

    def answer(self, token) -> None:
        fields = {"token": token, "state": int(State.STOPPING), "sender": 4}
        said = wire.new(StopSeen, **fields, sender_name=bytes(16))
        self.end.send(wire.encode(said))

    @property
    def is_let_go(self) -> bool:
        return self.socket.end is None


class World:
    """Time goes on while somebody waits for it."""

    def __init__(self) -> None:
        self.now_s = 100.0
        self.owners: list[Owner] = []

    def monotonic(self) -> float:
        return self.now_s

    def serve(self, *owners: Owner) -> None:
        self.owners += owners

    def poll(self):
        real, world = select.poll(), self

        class Poll:
            register, unregister = real.register, real.unregister

            def poll(self, ms):
                for _ in range(max(round(ms), 1)):
                    for owner in world.owners:
                        owner.step(world.now_s)
                    if found := real.poll(0):
                        return found
                    world.now_s += 0.001
                return []

        return Poll()


@pytest.fixture
def world(monkeypatch):
    world = World()
    monkeypatch.setattr(quick_stop, "time", SimpleNamespace(monotonic=world.monotonic))
    polls = SimpleNamespace(poll=world.poll, POLLIN=select.POLLIN)
    monkeypatch.setattr(quick_stop, "select", polls)
    monkeypatch.setattr(quick_stop, "connected", lambda: [it.socket for it in world.owners])
    yield world
    for owner in world.owners:
        owner.end.close()
        owner.socket.close()


def stop(*words, **options) -> int:
    known = {"car": words, "all": False, "fleet": None, "json": False}
    return quick_stop.run(SimpleNamespace(**{**known, **options}))


def test_every_car_that_is_served_is_told_and_each_says_so(world, capsys):
    one, two = Owner("one"), Owner("two", after_s=0.05)
    world.serve(one, two)
    assert quick_stop.stop_all() == 0
    told = capsys.readouterr()
    assert told.out.splitlines() == [
        "one: STOPPING, acknowledged after 30 ms",
        "two: STOPPING, acknowledged after 50 ms",
    ]
    assert told.err == ""
    assert one.is_let_go
    assert two.is_let_go
    assert {it.sender for it in one.stops} == {quick_stop.SENDER_COMMAND}
    assert world.now_s - 100.0 < 0.06  # and nobody is waited for any longer


@pytest.mark.parametrize("deaf", [0, 1, 2])
@pytest.mark.parametrize("is_json", [False, True])
def test_one_car_that_does_not_acknowledge_is_a_failure_whichever_it_is(
    world, capsys, deaf, is_json
):
    world.serve(*(Owner(f"car{n}", None if n == deaf else AFTER_S) for n in range(3)))
    assert stop(json=is_json) == DeviceFault.exit_code
    assert world.now_s - 100.0 == pytest.approx(quick_stop.GIVE_UP_S, abs=0.002)
    told = capsys.readouterr()
    if is_json:
        rows = {row["name"]: row for row in json.loads(told.out)}
        for n in range(3):
            row = rows[f"car{n}"]
            assert row["is_seen"] is (n != deaf)
            assert row["state"] == (None if n == deaf else "STOPPING")
            assert row["took_ms"] == (None if n == deaf else 30.0)
            assert row["pid"] == 4711
    else:
        assert f"car{deaf}: NOT ACKNOWLEDGED within 1 s" in told.err
        assert "process 4711" in told.err
        assert len(told.out.splitlines()) == 2


def test_it_is_said_again_every_20_ms_until_it_is_acknowledged(world):
    lost, heard = Owner("lost", after_s=None), Owner("heard", after_s=0.1)
    world.serve(lost, heard)
    stop()
    gaps = [b - a for a, b in zip(lost.told, lost.told[1:], strict=False)]
    assert len(lost.told) == 50
    assert gaps == pytest.approx([0.02] * 49)
    assert len(heard.told) == 6  # and then no more
    assert len({it.token for it in lost.stops}) == 1


def test_an_acknowledgement_of_another_stop_is_none(world):
    owner = Owner("one", after_s=None)
    world.serve(owner)
    step, answered = owner.step, []

    def answers_another(now_s):
        step(now_s)
        if len(owner.stops) == 3 and not answered:
            answered.append(now_s)
            owner.answer(owner.stops[0].token ^ 1)

    owner.step = answers_another
    assert stop() == DeviceFault.exit_code
    assert answered


def test_an_owner_that_goes_away_is_not_waited_for(world, capsys):
    owner = Owner("one", after_s=None)
    owner.end.close()
    world.serve(owner)
    assert stop() == DeviceFault.exit_code
    assert world.now_s - 100.0 < 0.01
    assert "NOT ACKNOWLEDGED" in capsys.readouterr().err


def test_an_owner_that_lets_nobody_in_is_told_as_one_that_did_not_answer(world, capsys):
    owner = Owner("one")
    owner.socket.close()
    world.serve(owner)
    assert stop() == DeviceFault.exit_code
    assert "one: NOT ACKNOWLEDGED" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "options", "chosen"),
    [
        (("two",), {}, ["two"]),
        (("tandem:///two",), {}, ["two"]),
        (("sim://b",), {}, ["two"]),
        (("one", "two", "one"), {}, ["one", "two"]),
        (("two",), {"all": True}, ["one", "two", "red"]),
        ((), {"fleet": "reds"}, ["red"]),
        (("one",), {"fleet": "reds"}, ["one", "red"]),
        ((), {"fleet": "reds", "all": True}, ["one", "two", "red"]),
    ],
)
def test_who_is_meant_is_stopped_and_nobody_else(world, words, options, chosen):
    owners = [
        Owner("one", uri="sim://a"), Owner("two", uri="sim://b"), Owner("red", fleet="reds")
    ]  # fmt: skip
    world.serve(*owners)
    assert stop(*words, **options) == 0
    assert [it.socket.name for it in owners if it.told] == chosen
    assert all(it.is_let_go for it in owners)
    of_fleet = "fleet" in options and not options.get("all")
    sender = quick_stop.SENDER_FLEET if of_fleet else quick_stop.SENDER_COMMAND
    assert {it.sender for owner in owners for it in owner.stops} == {sender}


def test_what_is_wrong_keeps_no_other_from_stopping_and_all_of_it_is_told(world, capsys):
    world.serve(Owner("one"), Owner("two", uid=os.getuid() + 1))
    with pytest.raises(DeviceFault, match="by the name of three") as fault:
        stop("three", "one", "four", fleet="none")
    assert "one: STOPPING" in capsys.readouterr().out
    assert [len(it.told) > 0 for it in world.owners] == [True, False]
    assert "served here: one, two (of " in str(fault.value)


def test_without_a_car_there_is_nothing_to_stop_and_it_says_where_it_looked(world):
    with pytest.raises(DeviceFault, match="no car is served on this machine"):
        stop()
    with pytest.raises(DeviceFault, match="no car of a fleet reds"):
        stop(fleet="reds")
    with pytest.raises(DeviceFault, match="nobody serves this virtual car"):
        stop("sim://nigel")


def test_whose_car_it_is_is_told_where_it_is_another_login_s(world, capsys):
    world.serve(Owner("mine"), Owner("theirs", uid=987_654))
    assert stop() == 0
    assert sorted(line.split(":")[0] for line in capsys.readouterr().out.splitlines()) == [
        "mine", "theirs (of user 987654)"
    ]  # fmt: skip
