"""``tandem stop`` without its processes: who is told, how often, and when that is enough.

Real sockets, whose other ends are the owners'; virtual time."""

from __future__ import annotations

import argparse
import asyncio
import io
import json
import os
import select
import socket
import sys
from types import SimpleNamespace

import pytest

from firmware.protocol.messages import Stop, StopSeen
from host_bridge.cli.commands import stop as quick_stop
from host_bridge.core import State
from host_bridge.core.errors import DeviceFault
from host_bridge.link.protocol import wire
from host_bridge.sharing.network.stops import fleet_stop
from host_bridge.sharing.services import make_host
from host_bridge.sharing.stop import stop_request
from host_bridge.sharing.stop.stop_sockets import StopSocket, tag
from tests.support.evidence import every

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
        self.babbles = False  # once more, when it has answered
        self.heard_s: list[float] = []
        self.stops: list[Stop] = []
        self._decoder = wire.MessageDecoder()

    def step(self, now_s) -> None:
        try:
            data = self.end.recv(4096)
        except OSError:
            data = b""
        for stop in self._decoder.feed(data):
            assert isinstance(stop, Stop)
            self.heard_s.append(now_s)
            self.stops.append(stop)
        if self.heard_s and self.after_s is None and self.babbles:
            self.babbles = False
            self.end.send(b"\0a status\0")
        if self.heard_s and self.after_s is not None and now_s - self.heard_s[0] >= self.after_s:
            self.answer(self.stops[0].token)
            self.after_s = None

    def answer(self, token) -> None:
        fields = {"token": token, "state": int(State.STOPPING), "sender": 4}
        reply = wire.new(StopSeen, **fields, sender_name=bytes(16))
        self.end.send(wire.encode(reply))

    @property
    def is_let_go(self) -> bool:
        return self.socket.end is None


class World:
    """Time goes on while somebody waits for it."""

    def __init__(self) -> None:
        self.now_s = 100.0
        self.step_s = 0.001
        self.polls = 0
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
                world.polls += 1
                for _ in range(max(round(ms), 1)):
                    for owner in world.owners:
                        owner.step(world.now_s)
                    if found := real.poll(0):
                        return found
                    world.now_s += world.step_s
                return []

        return Poll()


@pytest.fixture
def world(monkeypatch, tmp_path):
    world = World()
    monkeypatch.setattr(stop_request, "time", SimpleNamespace(monotonic=world.monotonic))
    polls = SimpleNamespace(poll=world.poll, POLLIN=select.POLLIN)
    monkeypatch.setattr(stop_request, "select", polls)
    monkeypatch.setattr(quick_stop, "find_stop_sockets", lambda: [it.socket for it in world.owners])
    monkeypatch.setattr(fleet_stop, "interfaces", list)  # this machine has no network
    monkeypatch.setenv("TANDEM_DATA_DIR", str(tmp_path))
    yield world
    for owner in world.owners:
        owner.end.close()
        owner.socket.close()


def stop(*words, **options) -> int:
    known = {"car": words, "all": False, "fleet": None, "json": False, "all_networks": False}
    return quick_stop.run(SimpleNamespace(**{**known, **options}))


def test_every_car_that_is_served_is_told_and_each_says_so(world, capsys):
    one, two = Owner("one"), Owner("two", after_s=0.05)
    world.serve(one, two)
    assert quick_stop.stop_all() == 0
    captured = capsys.readouterr()
    assert captured.out.splitlines() == [
        "one: STOPPING, acknowledged after 30 ms",
        "two: STOPPING, acknowledged after 50 ms",
    ]
    assert captured.err == ""
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
    assert world.now_s - 100.0 == pytest.approx(stop_request.GIVE_UP_S, abs=0.002)
    captured = capsys.readouterr()
    if is_json:
        rows = {row["name"]: row for row in json.loads(captured.out)}
        for n in range(3):
            row = rows[f"car{n}"]
            assert row["is_seen"] is (n != deaf)
            assert row["state"] == (None if n == deaf else "STOPPING")
            assert row["took_ms"] == (None if n == deaf else 30.0)
            assert row["pid"] == 4711
    else:
        assert f"car{deaf}: NOT ACKNOWLEDGED within 1 s" in captured.err
        assert "process 4711" in captured.err
        assert len(captured.out.splitlines()) == 2


def test_it_is_said_again_every_20_ms_until_it_is_acknowledged(world):
    lost, heard = Owner("lost", after_s=None), Owner("heard", after_s=0.1)
    heard.babbles = True
    world.serve(lost, heard)
    stop()
    gaps = [b - a for a, b in zip(lost.heard_s, lost.heard_s[1:], strict=False)]
    assert len(lost.heard_s) == 50
    assert gaps == pytest.approx([0.02] * 49)
    assert len(heard.heard_s) == 6  # and then no more
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
    assert len(owner.heard_s) == 50
    assert world.polls < 60  # it waits in between


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
        (("/dev/ttyACM7",), {}, ["wired"]),
        (("serial:///dev/ttyACM7",), {}, ["wired"]),
        (("one", "two", "one"), {}, ["one", "two"]),
        (("two",), {"all": True}, ["one", "two", "red", "wired"]),
        ((), {"fleet": "reds"}, ["red"]),
        (("one",), {"fleet": "reds"}, ["one", "red"]),
        ((), {"fleet": "reds", "all": True}, ["one", "two", "red", "wired"]),
    ],
)
def test_who_is_meant_is_stopped_and_nobody_else(world, words, options, chosen):
    owners = [
        Owner("one", uri="sim://a"), Owner("two", uri="sim://b"), Owner("red", fleet="reds"),
        Owner("wired", uri="serial:///dev/ttyACM7"),
    ]  # fmt: skip
    world.serve(*owners)
    assert stop(*words, **options) == 0
    assert [it.socket.name for it in owners if it.heard_s] == chosen
    assert every(it.is_let_go for it in owners)
    of_fleet = "fleet" in options and not options.get("all")
    sender = quick_stop.SENDER_FLEET if of_fleet else quick_stop.SENDER_COMMAND
    assert {it.sender for owner in owners for it in owner.stops} == {sender}


def test_what_is_wrong_keeps_no_other_from_stopping_and_all_of_it_is_told(world, capsys):
    world.serve(Owner("one"), Owner("two", uid=os.getuid() + 1))
    with pytest.raises(DeviceFault, match="by the name of three") as fault:
        stop("three", "one", "four", fleet="none")
    captured = capsys.readouterr()
    assert "one: STOPPING" in captured.out
    assert captured.err.count("by the name of four") == 1
    assert captured.err.count("no car of a fleet none") == 1
    assert "three" not in captured.err  # which is raised
    assert [len(it.heard_s) > 0 for it in world.owners] == [True, False]
    assert "served here: one, two (of " in str(fault.value)


def test_without_a_car_there_is_nothing_to_stop_and_it_says_where_it_looked(world):
    with pytest.raises(DeviceFault, match="no car is served on this machine"):
        stop()
    with pytest.raises(DeviceFault, match="no car of a fleet reds") as fault:
        stop(fleet="reds")
    assert "served here: no car" in str(fault.value)
    with pytest.raises(DeviceFault, match="nobody serves a car by the name of three"):
        stop("tandem:///three")
    with pytest.raises(DeviceFault, match="nobody serves this virtual car"):
        stop("sim://nigel")


def test_a_virtual_car_that_is_not_there_loses_nothing_by_a_stop(world, tmp_path):
    path = tmp_path / "run.jsonl"
    path.write_text("of its last drive")
    with pytest.raises(DeviceFault, match="nobody serves this virtual car"):
        stop(f"sim://nigel?sensors={path}")
    assert path.read_text() == "of its last drive"


def test_whose_car_it_is_is_told_where_it_is_another_login_s(world, capsys):
    world.serve(Owner("mine"), Owner("theirs", uid=987_654))
    assert stop() == 0
    assert sorted(line.split(":")[0] for line in capsys.readouterr().out.splitlines()) == [
        "mine", "theirs (of user 987654)"
    ]  # fmt: skip


def test_the_time_to_the_next_word_and_to_the_end_is_kept_to_the_moment(world, monkeypatch):
    monkeypatch.setattr(stop_request, "AGAIN_S", 16 / 1024)
    world.step_s = 1 / 1024
    owner = Owner("one", after_s=None)
    world.serve(owner)
    stop()
    gaps = {b - a for a, b in zip(owner.heard_s, owner.heard_s[1:], strict=False)}
    assert gaps == {16 / 1024}
    assert len(owner.heard_s) == 64
    assert world.now_s == 101.0


def decoded(frame) -> Stop:
    (stop,) = wire.MessageDecoder().feed(frame)
    assert isinstance(stop, Stop)
    return stop


def test_a_stop_is_a_command_s_unless_it_says_otherwise_and_its_token_has_two_bytes(monkeypatch):
    monkeypatch.setattr(os, "urandom", lambda size: b"\xff" * size)
    assert decoded(stop_request.StopCall("one", 1).frame).sender == quick_stop.SENDER_COMMAND
    assert decoded(stop_request.StopCall("one", 1).frame).token == 0xFFFF


def test_whoever_asks_for_it_gets_each_call_and_what_became_of_it(world):
    one, two = Owner("one"), Owner("two", after_s=None)
    world.serve(one, two)
    calls = stop_request.stop_served([one.socket, two.socket])
    assert [(call.name, call.is_seen) for call in calls] == [("one", True), ("two", False)]
    assert {it.sender for it in one.stops} == {quick_stop.SENDER_COMMAND}


def test_the_first_acknowledgement_counts_and_is_told_to_a_tenth(world):
    call = stop_request.StopCall("one", 1)
    fields = {"token": decoded(call.frame).token, "state": 4, "sender": 4}
    reply = wire.encode(wire.new(StopSeen, **fields, sender_name=bytes(16)))
    world.now_s += 0.01234
    call.hear(reply)
    assert call.row()["took_ms"] == 12.3
    world.now_s += 1.0
    call.hear(reply)
    assert call.row()["took_ms"] == 12.3


def test_who_waits_goes_on_for_as_long_as_an_answer_may_come():
    call = stop_request.StopCall("one", 1)
    near, far = socket.socketpair()
    near.setblocking(False)
    assert stop_request._receive(near, call) is True  # nothing yet
    far.send(b"something")
    assert stop_request._receive(near, call) is True
    far.close()
    assert stop_request._receive(near, call) is False
    near.close()
    assert stop_request._receive(near, call) is False


def test_each_line_is_out_before_the_next_car_is_waited_for(monkeypatch):
    written = io.BytesIO()
    monkeypatch.setattr(sys, "stderr", io.TextIOWrapper(written))
    quick_stop._Report(False).add(stop_request.StopCall("one", 1))
    assert b"one: NOT ACKNOWLEDGED" in written.getvalue()


def test_its_words_are_read_as_its_help_has_them():
    parser = argparse.ArgumentParser(formatter_class=argparse.RawDescriptionHelpFormatter)
    quick_stop.add_arguments(parser)
    help_text = parser.format_help()
    for words in (quick_stop.EPILOG, "Stop cars, now; by default all that are served"):
        assert words in help_text
    assert vars(parser.parse_args([])) == {
        "car": [], "all": False, "fleet": None, "json": False, "all_networks": False
    }  # fmt: skip
    given = parser.parse_args(["one", "two", "--all", "--fleet", "red", "--json", "--all-networks"])
    assert vars(given) == {
        "car": ["one", "two"], "all": True, "fleet": "red", "json": True, "all_networks": True
    }  # fmt: skip


# --- a car that nobody serves


class Board:
    """At the far end of a cable. Acknowledges the word of this number; None: none of them."""

    def __init__(self, at=None) -> None:
        self.at = at
        self.words: list[Stop] = []
        self.lost: list[Exception | None] = []
        self._decoder = wire.MessageDecoder()
        self.end = make_host().cars.transport("loopback://car")
        asyncio.run(self.end.open(self._hear, self.lost.append))

    def _hear(self, data) -> None:
        self.words += self._decoder.feed(data)
        if len(self.words) == self.at:
            fields = {"token": self.words[0].token, "state": 4, "sender": 4}
            self.end.send(wire.encode(wire.new(StopSeen, **fields, sender_name=bytes(16))))


@pytest.fixture
def slept(world, monkeypatch):
    """How long somebody slept; it takes no time."""
    slept, sleep = [], asyncio.sleep

    async def falls_asleep(seconds) -> None:
        slept.append(seconds)
        world.now_s += seconds
        for _ in range(4):
            await sleep(0)

    monkeypatch.setattr(asyncio, "sleep", falls_asleep)
    return slept


def test_a_car_that_nobody_serves_is_told_through_its_port_until_it_acknowledges(slept, capsys):
    board = Board(at=3)
    assert stop("loopback://car", json=True) == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert row == {"name": "loopback://car", "pid": os.getpid(), "is_seen": True,
                   "state": "STOPPING", "took_ms": 60.0}  # fmt: skip
    assert len(board.words) == 3
    assert slept == [0.02] * 3
    assert len(board.lost) == 1  # its port is free again


def test_one_that_does_not_acknowledge_through_its_port_is_given_up_after_a_second(slept, capsys):
    board = Board()
    assert stop("loopback://car") == DeviceFault.exit_code
    assert "loopback://car: NOT ACKNOWLEDGED" in capsys.readouterr().err
    assert len(board.words) == len(slept) == 50
    assert len(board.lost) == 1
