"""``tandem stop`` without its processes: who is told, how often, and when that is enough.

Real sockets, whose other ends are the owners'; virtual time."""

from __future__ import annotations

import argparse
import asyncio
import errno
import io
import json
import math
import os
import select
import socket
import sys
import threading
import zlib
from types import SimpleNamespace
from typing import NamedTuple

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
ROUNDED_MS = 1e-6


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
                assert ms >= 0, "it would wait for ever"
                world.polls += 1
                for left in range(math.ceil(ms - ROUNDED_MS), -1, -1):
                    for owner in world.owners:
                        owner.step(world.now_s)
                    if found := real.poll(0):
                        return found
                    if left:
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
    lost, heard = Owner("lost", after_s=None), Owner("heard", after_s=0.11)
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


LACKS_FILES = DeviceFault("this program could not look for served cars")


def test_those_who_were_found_are_stopped_though_others_could_not_be_looked_for(
    world, monkeypatch, capsys
):
    """Nobody is told that a car is not served, for that is not known."""
    one, straight = Owner("one", after_s=0.11), []

    def search():
        yield one.socket
        raise LACKS_FILES

    world.serve(one)
    monkeypatch.setattr(quick_stop, "find_stop_sockets", search)
    monkeypatch.setattr(quick_stop, "stop_directly", lambda uri: straight.append(uri) or seen(uri))
    with pytest.raises(DeviceFault, match="could not look"):
        stop("one", "two", "serial:///dev/a", json=True)
    captured = capsys.readouterr()
    assert [row["name"] for row in json.loads(captured.out)] == ["one", "serial:///dev/a"]
    assert len(one.heard_s) == 6
    assert one.is_let_go
    assert straight == ["serial:///dev/a"]
    assert captured.err == ""


@pytest.mark.parametrize("options", [{}, {"fleet": "reds"}])
def test_where_no_car_could_be_looked_for_nobody_is_told_that_none_is_served(
    world, monkeypatch, capsys, options
):
    def search():
        raise LACKS_FILES
        yield

    monkeypatch.setattr(quick_stop, "find_stop_sockets", search)
    with pytest.raises(DeviceFault, match="could not look"):
        stop(**options)
    assert capsys.readouterr() == ("", "")


def test_of_a_crowded_folder_those_who_were_found_are_stopped_and_the_rest_is_told(
    world, monkeypatch, capsys
):
    """Another login lays names there faster than they are looked at."""
    one, two = Owner("one", after_s=0.11), Owner("two", after_s=None)

    def search():
        yield from (one.socket, two.socket)
        while True:
            world.now_s += 0.01
            yield None

    world.serve(one, two)
    monkeypatch.setattr(quick_stop, "find_stop_sockets", search)
    with pytest.raises(DeviceFault, match="not all cars could be looked for within 5 s") as fault:
        stop()
    assert "tandem-stop" in fault.value.remedy
    captured = capsys.readouterr()
    assert captured.out.startswith("one: STOPPING, acknowledged after")
    assert captured.err.count("NOT ACKNOWLEDGED") == 1
    assert world.now_s == pytest.approx(106.0, abs=0.03)
    assert two.heard_s[-1] > 105.9  # it is told until the end
    assert one.is_let_go
    assert two.is_let_go


@pytest.mark.parametrize("where", ["nobody", "a full disk"])
@pytest.mark.parametrize("is_json", [False, True])
def test_output_that_nobody_takes_keeps_no_car_from_being_told_again(
    world, monkeypatch, where, is_json
):
    reads, writes = os.pipe()
    os.close(reads)
    if where == "a full disk":
        os.dup2(os.open("/dev/full", os.O_WRONLY), writes)
    one, two = Owner("one"), Owner("two", after_s=0.11)
    world.serve(one, two)
    with open(writes, "w", encoding="utf-8") as out:
        monkeypatch.setattr(sys, "stdout", out)
        monkeypatch.setattr(sys, "stderr", out)
        assert stop(json=is_json) == 0
    assert len(two.heard_s) == 6


def test_output_that_nobody_takes_ends_no_stop_of_a_program_without_a_file_left(monkeypatch):
    def has_none(*_):
        raise OSError(errno.EMFILE, "Too many open files")

    monkeypatch.setattr(quick_stop.os, "open", has_none)
    quick_stop._print("one: STOPPING", SimpleNamespace(write=has_none, fileno=lambda: 1))


def test_names_of_logins_are_looked_up_once_the_stop_is_out(world, monkeypatch):
    """A directory of logins on a network may take seconds, or not answer."""
    asked = []

    def look_up(uid):
        asked.append((uid, bool(theirs.heard_s)))
        raise KeyError(uid)

    own = os.getuid()
    mine, theirs = Owner("mine"), Owner("theirs", uid=987_654)
    world.serve(mine, theirs)
    stop_request._user.cache_clear()
    monkeypatch.setattr(stop_request.pwd, "getpwuid", look_up)
    assert stop() == 0
    stop_request._user.cache_clear()
    assert asked == [(own, False), (987_654, True)]
    assert {bytes(it.sender_name).strip(b"\0") for it in mine.stops} == {f"user {own}".encode()}


def test_a_virtual_car_that_is_not_there_loses_nothing_by_a_stop(world, tmp_path):
    path = tmp_path / "run.jsonl"
    path.write_text('{"sensor": "of its last drive"}')
    with pytest.raises(DeviceFault, match="nobody serves this virtual car"):
        stop(f"sim://nigel?sensors={path}")
    assert path.read_text() == '{"sensor": "of its last drive"}'


def test_whose_car_it_is_is_told_where_it_is_another_login_s(world, capsys):
    world.serve(Owner("mine"), Owner("theirs", uid=987_654))
    assert stop() == 0
    assert sorted(line.split(":")[0] for line in capsys.readouterr().out.splitlines()) == [
        "mine", "theirs (of user 987654)"
    ]  # fmt: skip


# --- a fleet, and every car of all networks


class AfarCar(NamedTuple):
    """A car of another machine as it is told of."""

    name: str
    is_seen: bool = True
    is_known: bool = True

    def row(self) -> dict[str, object]:
        return {"name": self.name}

    def __str__(self) -> str:
        return f"{self.name}: answered {self.is_seen}"


class Network:
    """Stands for the networks of this machine, and what their cars answer."""

    def __init__(self, monkeypatch) -> None:
        self.cars: list[AfarCar] = []
        self.fault: DeviceFault | None = None
        self.asked: list[object] = []
        self.told = lambda: None  # as soon as the first stop is out
        path = "host_bridge.sharing.network."
        monkeypatch.setattr(path + "stops.fleet_stop.FleetStop", self._stop)
        monkeypatch.setattr(path + "stops.fleet_sockets.own_addresses", lambda: ["10.0.0.7"])
        monkeypatch.setattr(path + "invitations.reached_cars", lambda tag: ("reached", tag))

    def _stop(self, tag, known, tell, own):
        self.told()
        self.asked.append((tag, known(), own))
        tell("1 of 2 cars have answered")
        return SimpleNamespace(run=lambda: self.cars, fault=self.fault)


@pytest.fixture
def network(world, monkeypatch):
    return Network(monkeypatch)


RED = zlib.crc32(b"red")


@pytest.mark.parametrize(
    ("options", "tag", "told"),
    [
        ({"fleet": "red"}, RED, ["red here"]),
        ({"all_networks": True}, 0, ["red here", "other"]),
        ({"all_networks": True, "car": ("nobody",), "fleet": "red"}, 0, ["red here", "other"]),
        ({"all": True, "fleet": "red"}, None, ["red here", "other"]),
        ({"car": ("other",)}, None, ["other"]),
    ],
)
def test_a_fleet_is_stopped_here_and_afar(world, network, capsys, options, tag, told):
    network.cars = [AfarCar("afar"), AfarCar("anybody", is_seen=False, is_known=False)]
    world.serve(Owner("red here", fleet="red"), Owner("other"))
    assert stop(*options.pop("car", ()), **options) == 0
    captured = capsys.readouterr()
    is_afar = tag is not None
    assert network.asked == [(tag, ("reached", tag), ["10.0.0.7"])] * is_afar
    afar = ["afar: answered True"] * is_afar
    lines = captured.out.splitlines()
    assert sorted(line.partition(":")[0] for line in lines[: len(told)]) == sorted(told)
    assert lines[len(told) :] == afar
    assert captured.err == "1 of 2 cars have answered\n" * is_afar


def test_one_afar_that_is_not_stopped_as_far_as_is_known_is_a_failure(world, network, capsys):
    network.cars = [AfarCar("afar", is_seen=False), AfarCar("proven")]
    assert stop(fleet="red", json=True) == DeviceFault.exit_code
    assert json.loads(capsys.readouterr().out) == [{"name": "afar"}, {"name": "proven"}]
    assert stop(fleet="red") == DeviceFault.exit_code
    captured = capsys.readouterr()
    assert (captured.out, captured.err.splitlines()[1:]) == (
        "proven: answered True\n", ["afar: answered False"]
    )  # fmt: skip


@pytest.mark.parametrize(
    ("options", "here", "afar", "fault"),
    [
        ({"fleet": "red"}, ["red", "blue"], [], None),
        ({"fleet": "red"}, [], [AfarCar("afar")], None),
        ({"fleet": "red"}, ["blue"], [], "no car of a fleet red"),
        ({"fleet": "red"}, ["blue"], [AfarCar("afar", is_known=False)], "no car of a fleet red"),
        ({"all_networks": True}, [], [AfarCar("afar")], None),
        ({"all_networks": True}, ["blue"], [], None),
        ({"all_networks": True}, [], [], "no car is served on this machine"),
    ],
)
def test_that_there_is_no_car_is_said_only_where_there_is_none(
    world, network, options, here, afar, fault
):
    network.cars = afar
    world.serve(*(Owner(fleet, fleet=fleet) for fleet in here))
    if fault is None:
        assert stop(**options) == 0
    else:
        with pytest.raises(DeviceFault, match=fault):
            stop(**options)


def test_that_there_is_no_fleet_is_said_whatever_else_was_stopped(world, network, monkeypatch):
    monkeypatch.setattr(quick_stop, "stop_directly", seen)
    with pytest.raises(DeviceFault, match="no car of a fleet red"):
        stop("/dev/a", fleet="red")


def test_what_keeps_this_machine_from_knowing_all_of_a_fleet_is_raised_in_the_end(
    world, network, capsys
):
    network.cars, network.fault = [AfarCar("afar")], DeviceFault("a damaged file")
    with pytest.raises(DeviceFault, match="a damaged file"):
        stop(fleet="red")
    assert capsys.readouterr().out == "afar: answered True\n"


# --- without who serves it here: through its port, or on another machine


def seen(uri):
    call = stop_request.StopCall(uri, 1)
    fields = {"token": decoded(call.frame).token, "state": 4, "sender": 4}
    call.hear(wire.encode(wire.new(StopSeen, **fields, sender_name=bytes(16))))
    return call


PORT, AFAR = "serial:///dev/ttyACM7", "tandem://192.168.1.7/red"


@pytest.mark.parametrize(
    ("uri", "is_own", "answers", "is_asked_itself"),
    [
        (PORT, True, True, False), (PORT, True, False, False),
        (PORT, False, True, False), (PORT, False, False, True),
        (AFAR, True, True, True), (AFAR, True, False, True),
        (AFAR, False, True, True), (AFAR, False, False, True),
        ("sim://b", False, False, False), ("sim://b", True, False, False),
    ],
)  # fmt: skip
def test_whoever_says_that_they_serve_a_car_keep_it_from_no_stop(
    world, monkeypatch, uri, is_own, answers, is_asked_itself
):
    """Any login may lay a socket there that says it is this car's, and hang or forge an answer."""
    asked = []
    for place in (
        "host_bridge.cli.commands.stop.stop_directly",
        "host_bridge.sharing.network.stops.network_stop.stop_afar",
    ):
        monkeypatch.setattr(place, lambda uri: asked.append(uri) or seen(uri))
    claims = Owner("claims", AFTER_S if answers else None, uri=uri, uid=None if is_own else 987_654)
    world.serve(claims)
    assert stop(uri) == (0 if answers else DeviceFault.exit_code)
    assert claims.heard_s
    assert asked == [uri] * is_asked_itself


def test_one_that_hangs_delays_no_other(world, monkeypatch):
    is_other_told, lines = threading.Event(), []

    def prints(text, file):
        lines.append(text.splitlines()[0])
        if text.startswith("serial:///dev/other"):
            is_other_told.set()

    def stops(uri):
        assert threading.current_thread().daemon, "an interrupted stop does not wait for it"
        if uri == "serial:///dev/hangs":
            assert is_other_told.wait(20.0)
        elif uri != "serial:///dev/other":
            raise DeviceFault("gone", where=uri)
        return seen(uri)

    monkeypatch.setattr(quick_stop, "_print", prints)
    monkeypatch.setattr(quick_stop, "stop_directly", stops)
    with pytest.raises(DeviceFault, match="dev/a"):  # which is not printed
        stop("/dev/hangs", "/dev/a", "/dev/b", "/dev/other", "/dev/hangs")
    assert [line.partition(":/")[2].partition(" ")[0] for line in lines] == [
        "//dev/other:", "//dev/hangs:", "//dev/b:"
    ]  # fmt: skip


@pytest.mark.parametrize("words", [{"fleet": "red"}, {"car": (AFAR,)}])
def test_who_hangs_here_delays_no_car_elsewhere(world, network, monkeypatch, words):
    is_told = threading.Event()
    network.cars = [AfarCar("afar")]
    monkeypatch.setattr(network, "told", is_told.set)
    monkeypatch.setattr(
        "host_bridge.sharing.network.stops.network_stop.stop_afar",
        lambda uri: is_told.set() or seen(uri),
    )

    def search():
        assert is_told.wait(5.0)
        yield world.owners[0].socket

    world.serve(Owner("hangs", None, fleet="red", uri=AFAR))
    monkeypatch.setattr(quick_stop, "find_stop_sockets", search)
    assert stop(*words.pop("car", ()), **words) == DeviceFault.exit_code


def test_a_fault_of_this_program_keeps_no_other_car_from_being_stopped(world, monkeypatch, capsys):
    def stops(uri):
        if uri == "serial:///dev/a":
            raise ZeroDivisionError
        return seen(uri)

    monkeypatch.setattr(quick_stop, "stop_directly", stops)
    with pytest.raises(ZeroDivisionError):
        stop("/dev/a", "/dev/b")
    assert "serial:///dev/b: STOPPING" in capsys.readouterr().out


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


# --- who is found later, is not let in, or is let out again


def test_nothing_is_waited_for_while_more_may_be_found(world, monkeypatch):
    one, late = Owner("one", after_s=0.001), Owner("late")

    def search():
        yield from (None, None, one.socket, None, None, None, late.socket)

    world.serve(one, late)
    monkeypatch.setattr(quick_stop, "find_stop_sockets", search)
    assert stop() == 0
    assert late.heard_s[0] == 100.0


def test_cars_are_looked_for_as_long_as_5_s_and_the_last_is_told_for_a_second(world, monkeypatch):
    monkeypatch.setattr(stop_request, "AGAIN_S", 16 / 1024)
    world.step_s = 1 / 1024
    last, looks = Owner("last", after_s=None), []

    def search():
        while True:
            looks.append(world.now_s)
            world.now_s += 1 / 128
            yield last.socket if len(looks) == 639 else None

    world.serve(last)
    with pytest.raises(DeviceFault, match="not all cars could be looked for within 5 s"):
        stop_request.stop_served(search())
    assert looks[-1] == 100.0 + 639 / 128
    assert last.heard_s[0] == 105.0
    assert world.now_s == 106.0
    assert world.polls < 800  # it waits in between, once it no longer looks


class Outside:
    """Notes when it is asked who was let in meanwhile: those whose time has come."""

    def __init__(self, world, lets_in) -> None:
        self.lets_in = lets_in  # s from the beginning, by name
        self.again_s = None
        self.added: list[tuple[str, float]] = []
        self.asked_s: list[float] = []
        self.is_ended = False
        self._world = world
        self._waits: list[StopSocket] = []

    def __call__(self, again_s):
        self.again_s = again_s
        return self

    def __bool__(self) -> bool:
        return bool(self._waits)

    def add(self, it, from_s) -> None:
        self.added.append((it.name, from_s))
        self._waits.append(it)

    def entered(self, now_s):
        self.asked_s.append(now_s)
        found = [it for it in self._waits if now_s - 100.0 >= self.lets_in[it.name]]
        for it in found:
            self._waits.remove(it)
            owner = next(owner for owner in self._world.owners if owner.socket is it)
            it.end = it.end or owner.near
        return found

    def end(self) -> None:
        self.is_ended = True


@pytest.fixture
def outside(world, monkeypatch):
    outside = Outside(world, {})
    monkeypatch.setattr(stop_request, "PendingStopSockets", outside)
    return outside


def kept_out(name, **options) -> Owner:
    owner = Owner(name, **options)
    owner.near, owner.socket.end = owner.socket.end, None
    return owner


def test_who_is_not_let_in_is_looked_at_every_2_ms_and_told_as_soon_as_it_is(world, outside):
    outside.lets_in = {"late": 0.011}
    one, late = Owner("one", after_s=None), kept_out("late")
    world.serve(one, late)
    assert stop() == DeviceFault.exit_code
    assert (outside.again_s, outside.added) == (stop_request.AGAIN_S, [("late", 0.0)])
    gaps = [b - a for a, b in zip(outside.asked_s[:6], outside.asked_s[1:], strict=False)]
    assert gaps == pytest.approx([0.002] * 6)
    assert late.heard_s[0] == pytest.approx(100.012)
    assert len(late.heard_s) == 3  # and then every 20 ms until it has acknowledged it
    gaps = [b - a for a, b in zip(one.heard_s, one.heard_s[1:], strict=False)]
    assert gaps == pytest.approx([0.02] * 49)
    assert world.polls < 100  # with nobody outside it waits longer
    assert outside.is_ended


def test_one_that_lets_nobody_in_is_waited_for_though_it_is_alone(world, outside, capsys):
    outside.lets_in = {"late": 0.5}
    world.serve(kept_out("late"))
    assert stop() == 0
    assert world.now_s == pytest.approx(100.53, abs=0.002)


@pytest.mark.parametrize("is_there", [True, False])
def test_who_is_let_out_goes_in_again_after_20_ms_if_the_owner_is_there(
    world, outside, tmp_path, is_there
):
    owner = Owner("one", after_s=None)
    owner.end.close()
    near, owner.end = socket.socketpair()
    near.setblocking(False)
    owner.end.setblocking(False)
    owner.near, owner.after_s = near, AFTER_S
    owner.socket.path = str(tmp_path / "file")
    if is_there:
        (tmp_path / "file").touch()
    first, outside.lets_in = owner.socket.end, {"one": 0.02}
    world.serve(owner)
    assert stop() == (0 if is_there else DeviceFault.exit_code)
    assert outside.added == ([("one", pytest.approx(100.02))] if is_there else [])
    assert first.fileno() == -1
    assert bool(owner.heard_s) is is_there
    near.close()


def test_own_cars_are_told_of_first_and_each_by_name(world, capsys):
    owners = [
        Owner("b", after_s=None), Owner("a", None, uid=987_654), Owner("c", after_s=None),
        Owner("a", after_s=None),
    ]  # fmt: skip
    world.serve(*owners)
    assert stop() == DeviceFault.exit_code
    lines = capsys.readouterr().err.splitlines()
    assert [line.partition(":")[0] for line in lines if "NOT ACK" in line] == [
        "a", "b", "c", "a (of user 987654)"
    ]  # fmt: skip


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
    far.send(bytes(10_000))
    assert stop_request._receive(near, call) is True
    assert len(near.recv(65_536, socket.MSG_PEEK)) == 10_000 - 4096  # the others have their turn
    near.recv(65_536)
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
    said = capsys.readouterr().err
    assert "loopback://car: NOT ACKNOWLEDGED" in said
    assert "Nothing came back through its port." in said
    assert len(board.words) == len(slept) == 50
    assert len(board.lost) == 1
