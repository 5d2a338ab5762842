"""``tandem stop``: from exec to the brakes."""

from __future__ import annotations

import json
import os
import random
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import NamedTuple

import pytest

from firmware.protocol import codes
from firmware.protocol.messages import Stop, StopSeen
from host_bridge.core import State
from host_bridge.core.errors import DeviceFault
from host_bridge.link.protocol import wire
from host_bridge.sharing.endpoints.served import socket_path
from host_bridge.sharing.stop import frozen_stop, stop_request
from tests.host_bridge.cli.programs import TANDEM, serving, tandem, virtual_car
from tests.host_bridge.sharing.desk import runtime_folder
from tests.host_bridge.sharing.stop.connected import connect_all
from tests.support import patience

ROOT = Path(__file__).parents[4]

# What a stop must not wait for: a millisecond or half a second each, which add up
HEAVY = (
    "argparse",
    "contextlib",
    "dataclasses",
    "json",
    "pathlib",
    "tempfile",
    "typing",
    "firmware",
    "numpy",
    "matplotlib",
    "mcap",
    "asyncio",
    "serial",
    "rich",
    "tomllib",
    "host_bridge.config",
)


@pytest.fixture(autouse=True)
def folder(monkeypatch):
    with runtime_folder(monkeypatch) as path:
        yield path


@pytest.mark.process
def test_a_stop_imports_nothing_heavy():
    code = "import sys, host_bridge.cli.main, host_bridge.cli.commands.stop; print(*sys.modules)"
    printed = subprocess.run(
        [sys.executable, "-S", "-c", code],  # without what this installation itself imports
        check=True,
        capture_output=True,
        text=True,
        env={"PYTHONPATH": str(ROOT)},
    )
    imported = printed.stdout.split()
    assert "host_bridge.cli.commands.stop" in imported
    assert not set(HEAVY) & set(imported)


def test_what_is_written_by_hand_is_what_the_table_says():
    draw = random.Random(1)
    for _ in range(300):
        token, sender, name = draw.randrange(65536), draw.randrange(6), draw.randbytes(16)
        text = name.hex()[: draw.randrange(17)]
        fields = {"token": token, "sender": sender, "sender_name": text.encode().ljust(16, b"\0")}
        assert frozen_stop.stop_frame(token, text, sender) == wire.encode(wire.new(Stop, **fields))
        watch = frozen_stop.StopAckReader(token)
        seen = {"token": token, "state": 4, "sender": sender, "sender_name": name}
        frame = wire.encode(wire.new(StopSeen, **seen))
        watch.feed(frame[:9])
        assert not watch.is_seen
        watch.feed(frame[9:])
        assert watch.is_seen
    assert frozen_stop.SENDER_COMMAND == codes.SENDER_COMMAND
    assert frozen_stop.SENDER_FLEET == codes.SENDER_FLEET


def test_a_watch_takes_no_damaged_acknowledgement_and_keeps_no_endless_noise():
    draw = random.Random(2)
    frame = wire.encode(wire.new(StopSeen, token=7, state=4, sender=4, sender_name=bytes(16)))
    for place in range(1, len(frame) - 1):
        damaged = bytearray(frame)
        damaged[place] ^= 1 << draw.randrange(8)
        watch = frozen_stop.StopAckReader(7)
        watch.feed(bytes(damaged))
        assert not watch.is_seen
    watch = frozen_stop.StopAckReader(7)
    for _ in range(100):
        watch.feed(b"\xaa" * 4096)
    assert len(watch._rest) < 1000
    watch.feed(frame)
    assert watch.is_seen


def test_what_has_not_the_size_of_an_acknowledgement_is_not_decoded(monkeypatch):
    """A peer that sends zeros without end would else take all of the time of a stop."""
    decoded = []
    monkeypatch.setattr(frozen_stop, "_unstuffed", lambda frame: decoded.append(frame) or b"")
    frame = wire.encode(wire.new(StopSeen, token=7, state=4, sender=4, sender_name=bytes(16)))
    size = len(frame.strip(b"\0"))
    watch = frozen_stop.StopAckReader(7)
    watch.feed(bytes(4096) + b"\0".join(b"a" * other for other in range(60) if other != size))
    assert decoded == []
    watch.feed(frame)
    assert [len(it) for it in decoded] == [size]


def test_the_states_are_called_as_everywhere():
    assert tuple(state.name for state in State) == frozen_stop.STATES


@pytest.mark.process
def test_all_served_cars_are_stopped_and_every_one_says_so():
    with serving("sim://nigel", "one"), serving("sim://f1tenth", "two"):
        stopped = tandem("stop")
        assert stopped.returncode == 0, stopped.stderr
        names = [line.split(":")[0] for line in stopped.stdout.splitlines()]
        assert sorted(names) == ["one", "two"]
        causes = {row["name"]: row["cause"] for row in json.loads(tandem("cars", "--json").stdout)}
        assert causes == {"one": "a stop was requested", "two": "a stop was requested"}


@pytest.mark.process
def test_only_the_named_car_is_stopped():
    with serving("sim://nigel", "one"), serving("sim://f1tenth", "two"):
        stopped = json.loads(tandem("stop", "two", "--json").stdout)
        assert [(row["name"], row["is_seen"]) for row in stopped] == [("two", True)]
        causes = {row["name"]: row["cause"] for row in json.loads(tandem("cars", "--json").stdout)}
        assert causes == {"one": None, "two": "a stop was requested"}


class Try(NamedTuple):
    """A stop, from exec to the program's word that the car acknowledged it."""

    begun_s: float
    ended_s: float
    cpu_s: float

    @property
    def own_s(self) -> float:
        """How long it took, less what the machine withheld."""
        withheld_s = patience.withheld_s(self.begun_s, self.ended_s, self.cpu_s)
        return self.ended_s - self.begun_s - withheld_s


def tried() -> Try:
    begun_s = time.monotonic()
    process = subprocess.Popen([*TANDEM, "stop", "--json"], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    printed = process.stdout.readline()
    ended_s = time.monotonic()
    printed += process.stdout.read()
    process.stdout.close()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert json.loads(printed)[0]["state"] == "STOPPING"
    return Try(begun_s, ended_s, usage.ru_utime + usage.ru_stime)


@pytest.mark.process
@pytest.mark.timeout(60)  # it reads what may never come
def test_an_armed_car_is_stopping_within_300_ms_of_exec():
    with serving("sim://nigel", "car"):
        tries = []
        for _ in range(5):
            assert tandem("clear").returncode == 0
            assert tandem("arm").returncode == 0
            tries.append(tried())
    middle = sorted(tries, key=lambda it: it.own_s)[2]
    patience.took(middle.begun_s, 0.3, "a stop, from exec", middle.cpu_s, middle.ended_s)


@pytest.mark.process
def test_a_stop_of_nothing_is_an_error_with_what_to_do():
    stopped = tandem("stop")
    assert stopped.returncode == DeviceFault.exit_code
    assert "no car is served" in stopped.stderr
    assert "tandem stop serial:///dev/ttyACM0" in stopped.stderr


@pytest.mark.process
def test_a_stop_of_a_car_that_nobody_serves_names_those_that_are():
    with serving("sim://nigel", "one"):
        stopped = tandem("stop", "tow")
        assert stopped.returncode == DeviceFault.exit_code
        assert "served here: one" in stopped.stderr


@pytest.mark.process
def test_a_name_or_a_port_that_is_wrong_keeps_no_other_car_from_stopping(folder):
    with serving("sim://nigel", "one"), serving("sim://f1tenth", "two", "--fleet", "red"):
        nowhere = f"serial://{folder / 'nowhere'}"
        stopped = tandem("stop", "tow", nowhere, "one", "--fleet", "red")
        looked = json.loads(tandem("cars", "--json").stdout)
    assert stopped.returncode == DeviceFault.exit_code
    assert sorted(line.split(":")[0] for line in stopped.stdout.splitlines()) == ["one", "two"]
    assert "nobody serves a car by the name of tow" in stopped.stderr
    assert "nowhere" in stopped.stderr
    assert {row["cause"] for row in looked} == {"a stop was requested"}


@pytest.mark.process
def test_a_car_that_nobody_serves_is_stopped_through_its_port(folder):
    with virtual_car("nigel", folder / "port"):
        stopped = tandem("stop", f"serial://{folder / 'port'}")
        assert stopped.returncode == 0, stopped.stderr
        assert "acknowledged" in stopped.stdout


@pytest.mark.process
def test_an_owner_that_hangs_makes_the_stop_fail_and_say_why():
    with serving("sim://nigel", "car") as owner:
        owner.send_signal(signal.SIGSTOP)
        stopped = tandem("stop")
        looked = tandem("monitor", "--seconds", "1")
        owner.send_signal(signal.SIGCONT)
    assert stopped.returncode == DeviceFault.exit_code
    assert "NOT ACKNOWLEDGED within 1 s" in stopped.stderr
    assert f"process {owner.pid}" in stopped.stderr
    assert "gets no claims" in stopped.stderr
    assert f"does process {owner.pid}, which serves the car, hang?" in looked.stderr


@pytest.mark.process
def test_a_fleet_is_stopped_and_no_other_car():
    with serving("sim://nigel", "a", "--fleet", "red"), serving("sim://nigel", "b"):
        unknown = tandem("stop", "--fleet", "blue", "--json")
        stopped = tandem("stop", "--fleet", "red", "--json")
        looked = {n: tandem("monitor", n, "--seconds", "1", "--json").stdout for n in ("a", "b")}
    assert unknown.returncode == DeviceFault.exit_code
    assert "no car of a fleet blue" in unknown.stderr
    assert "served here: a, b" in unknown.stderr
    assert [row["name"] for row in json.loads(stopped.stdout)] == ["a"]
    rows = {name: list(map(json.loads, text.splitlines())) for name, text in looked.items()}
    causes = {
        name: [row["causes"] for row in found if row["topic"] == "status"][-1]
        for name, found in rows.items()
    }
    assert causes == {"a": ["STOP_REQUEST"], "b": []}


def test_the_frame_is_repeated_until_it_is_seen():
    heard = []
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listening:
        listening.bind(str(socket_path("car")))
        listening.listen()

        def car() -> None:
            """Misses the first two, as a car on a bad line would."""
            end, _ = listening.accept()
            decoder = wire.MessageDecoder()
            while len(heard) < 3:
                heard.extend(decoder.feed(end.recv(4096)))
            seen = {"token": heard[0].token, "state": 4, "sender": 4}
            answer = wire.new(StopSeen, sender_name=bytes(heard[0].sender_name), **seen)
            end.sendall(wire.encode(answer))
            end.close()

        thread = threading.Thread(target=car)
        thread.start()
        (call,) = stop_request.stop_served(connect_all())
        thread.join()
    assert call.row()["state"] == "STOPPING"
    assert call.took_ms is not None
    # the repeats' clock runs from before this car was found: only the second gap is a whole one
    assert call.took_ms >= stop_request.AGAIN_S * 1e3
    assert len({(message.token, message.sender) for message in heard}) == 1


def test_an_owner_that_goes_away_meanwhile_is_not_waited_for():
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listening:
        listening.bind(str(socket_path("gone")))
        listening.listen()

        def leave() -> None:
            listening.accept()[0].close()

        thread = threading.Thread(target=leave)
        thread.start()
        (call,) = stop_request.stop_served(connect_all())
        thread.join()
    assert not call.is_seen
    assert "NOT ACKNOWLEDGED" in str(call)


def test_an_acknowledgement_of_another_stop_does_not_count():
    watch = frozen_stop.StopAckReader(7)
    fields = {"state": 4, "sender": 4, "sender_name": bytes(16)}
    watch.feed(wire.encode(wire.new(StopSeen, token=8, **fields)))
    assert not watch.is_seen
    watch.feed(wire.encode(wire.new(StopSeen, token=7, **fields)))
    assert watch.is_seen
