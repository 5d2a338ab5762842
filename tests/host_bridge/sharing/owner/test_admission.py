"""Nothing waits on a car's line in front of a stop, however much a client says."""

from __future__ import annotations

import itertools
import random

import pytest

from firmware.boards.simulated.virtual import RECEIVE_SIZE
from firmware.protocol.messages import Identify, Stop
from host_bridge.core.system.clock import ManualClock
from host_bridge.link.protocol import wire
from host_bridge.link.transports import loopback
from host_bridge.sharing.owner import admission
from host_bridge.sharing.owner.chunks import split
from host_bridge.sharing.owner.owner import Owner
from tests.host_bridge.sharing.desk import Ear, run, runtime_folder
from tests.support.evidence import every

STOP = wire.encode(wire.new(Stop, token=7, sender=4, sender_name=bytes(16)))
WORD = wire.encode(wire.new(Identify, token=9, challenge=b"12345678"))
STEP_US = 10_000
LONGEST_STEP_US = 20_000


@pytest.fixture(autouse=True)
def folder(monkeypatch):
    with runtime_folder(monkeypatch) as path:
        yield path


class Line:
    """A car's line that takes all, and on which a test looks at what was said by when."""

    def __init__(self) -> None:
        self.label = "line"
        self.sent = b""

    async def open(self, on_bytes, on_closed):
        pass

    def send(self, data):
        self.sent += data
        return len(data)

    def close(self):
        pass


def flooded(clients, seconds, at_each=lambda owner, lines, now_us: None):
    """What reaches the car of so many clients that say all they can, step by step."""
    clock = ManualClock()
    line = Line()
    owner = Owner(line, clock)
    lines = [owner.join(Ear(None)) for _ in range(clients)]
    steps = []
    for _ in range(int(seconds * 1e6) // STEP_US):
        line.sent = b""
        for one in lines:
            for _ in range(4):
                one.feed(WORD * 40)
        at_each(owner, lines, clock.now_us())
        steps.append(line.sent)
        clock.advance(STEP_US)
    return owner, steps


@pytest.mark.parametrize("clients", [1, 2, 4])
def test_a_flood_never_fills_what_a_car_takes_on_a_step(clients):
    owner, steps = flooded(clients, 2.0)
    sizes = [len(one) + len(two) for one, two in itertools.pairwise(steps[4:])]
    assert max(sizes) + len(STOP) <= RECEIVE_SIZE
    assert sum(map(len, steps)) > 10_000  # it is not shut out
    assert owner.refused_bytes > 400_000


@pytest.mark.parametrize("clients", [1, 3])
def test_a_stop_passes_on_the_step_on_which_it_is_said(clients):
    """By another client, and in the middle of the flood itself."""
    stoppers = {}

    def say(owner, lines, now_us):
        line = stoppers.setdefault(owner, owner.join(Ear(None)))
        line.feed(STOP)

    _, steps = flooded(clients, 1.0, say)
    assert every(STOP in sent for sent in steps)
    _, steps = flooded(
        clients, 1.0, lambda owner, lines, now_us: lines[0].feed(WORD * 9 + STOP + WORD)
    )
    assert every(STOP in sent for sent in steps)


def test_who_drives_beside_a_flood_is_heard():
    driver = {}
    word = b"\0" + b"\x55" * 70 + b"\0"  # a claim and what goes with it

    def say(owner, lines, now_us):
        line = driver.setdefault(owner, owner.join(Ear(None)))
        driver["sent"] = driver.get("sent", 0) + line.feed(word)

    flooded(1, 2.0, say)
    assert driver["sent"] > 190  # of 200


def test_many_stops_of_one_client_are_one_each_step():
    _, steps = flooded(1, 0.5, lambda owner, lines, now_us: lines[0].feed(STOP * 50))
    counts = [sent.count(STOP) for sent in steps]
    assert set(counts) == {1}


def test_a_slow_line_is_not_filled():
    slow = admission.line_bucket(11_520)
    taken, now_us = 0, 0
    for now_us in range(0, 10_000_000, 1000):
        if slow.has(20, now_us):
            slow.take(20)
            taken += 20
    assert 0.7 < taken / 10 / 11_520 < 0.8


@pytest.mark.parametrize(
    ("bucket", "bytes_per_s", "depth"),
    [
        (admission.line_bucket(None), 24_000, 240),
        (admission.line_bucket(1e9), 24_000, 240),
        (admission.line_bucket(11_520), 8_640, 240),
        (admission.client_bucket(), 14_000, 224),
        (admission.stop_bucket(), 3_200, 32),
    ],
)
def test_how_much_is_let_through_is_what_was_reckoned_with(bucket, bytes_per_s, depth):
    """test_a_flood and test_a_stop show what these numbers are for."""
    assert (bucket._bytes_per_s, bucket._depth) == (bytes_per_s, depth)
    assert not bucket.has(depth + 1, 0)
    assert bucket.has(depth, 0)
    bucket.take(depth)
    assert not bucket.has(1, 0)
    assert bucket.has(round(bytes_per_s / 200), 5_000)


def test_what_is_split_adds_up_to_what_it_was():
    draw = random.Random(3)
    for _ in range(500):
        frames = draw.choices([b"\0", b"abc\0", b"\0x\0", STOP, WORD], k=draw.randrange(1, 8))
        whole = b"".join(frames)
        assert b"".join(split(whole)) == whole
        assert every(part.endswith(b"\0") for part in split(whole))
    assert not list(split(b""))


def test_a_clients_noise_is_bounded():
    async def test():
        near, _ = loopback.pair("loopback://car")
        owner = Owner(near, ManualClock())
        line = owner.join(Ear(None))
        for _ in range(1000):
            line.feed(b"\xaa" * 4096)
        assert len(line._chunker._rest) < 10_000

    run(test())
