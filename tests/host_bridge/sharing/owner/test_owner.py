"""The relay: frames as they are, whole, to and from everybody."""

from __future__ import annotations

import asyncio
import random
import socket

import pytest

from firmware.protocol.frame import WHITENER
from firmware.protocol.messages import Identify, Stop
from host_bridge.core.errors import DeviceFault, UsageFault
from host_bridge.core.system.clock import ManualClock
from host_bridge.link.protocol import wire
from host_bridge.sharing.endpoints import served
from host_bridge.sharing.endpoints.endpoint import local_endpoint
from host_bridge.sharing.endpoints.local_socket import LocalSocket
from host_bridge.sharing.owner import admission
from host_bridge.sharing.owner.board_verification import DOWN, UP
from host_bridge.sharing.owner.chunks import LONGEST_FRAME_BYTES, Chunker
from host_bridge.sharing.owner.owner import Owner
from host_bridge.sharing.owner.rights import ClientRight
from tests.host_bridge.sharing.desk import Ear, owner_and_car, run, runtime_folder, until
from tests.support.evidence import every

IDS = [n + 1 for n in range(200) if (n + 1) ^ WHITENER != Stop.ID]  # a Stop passes first
FRAMES = [b"\0" + bytes([it]) * (n % 60 + 1) + b"\0" for n, it in enumerate(IDS)]


@pytest.fixture(autouse=True)
def folder(monkeypatch):
    with runtime_folder(monkeypatch) as path:
        yield path


@pytest.fixture(autouse=True)
def wide_line(monkeypatch):
    """As much as a test likes to say at once: what is too much is test_admission's."""
    for whose in ("client_bucket", "line_bucket"):
        monkeypatch.setattr(admission, whose, lambda *_: admission.TokenBucket(1e9, 1 << 30))


def pieces(data: bytes, seed: int) -> list[bytes]:
    """Cut anywhere, in pieces of 1 to 50 bytes."""
    draw = random.Random(seed)
    found = []
    while data:
        size = draw.randint(1, 50)
        found.append(data[:size])
        data = data[size:]
    return found


def all_of(end: socket.socket) -> bytes:
    """What waits in a socket."""
    end.setblocking(False)
    received = b""
    try:
        while data := end.recv(65_536):
            received += data
    except BlockingIOError:
        pass
    return received


@pytest.mark.parametrize("seed", range(20))
def test_chunks_end_with_a_delimiter_and_add_up_to_what_came(seed):
    chunker = Chunker()
    stream = b"".join(FRAMES)
    chunks = [chunker.feed(piece) for piece in pieces(stream, seed)]
    assert b"".join(chunks) == stream
    assert every(chunk.endswith(b"\0") for chunk in chunks if chunk)


def test_what_has_no_delimiter_is_given_up_as_noise():
    assert LONGEST_FRAME_BYTES == 256
    chunker = Chunker()
    assert chunker.feed(b"x" * LONGEST_FRAME_BYTES) == b""
    assert chunker.take_noise() == b""
    chunker.feed(b"y")
    assert chunker.take_noise() == b"x" * LONGEST_FRAME_BYTES + b"y"
    assert chunker.noise_bytes == LONGEST_FRAME_BYTES + 1
    assert chunker.feed(b"z\0") == b"z\0"


def test_what_a_client_says_reaches_the_car_as_it_is():
    async def test():
        owner, car = await owner_and_car()
        client = await Ear(owner.attach()).open()
        for piece in pieces(b"".join(FRAMES), 1):
            client.transport.send(piece)
        await until(lambda: car.data == b"".join(FRAMES))

    run(test())


def test_frames_of_several_clients_are_never_cut_into_each_other():
    async def test():
        owner, car = await owner_and_car()
        clients = [await Ear(owner.attach()).open() for _ in range(3)]
        streams = [pieces(b"".join(FRAMES), seed) for seed in range(3)]
        draw = random.Random(4)
        while any(streams):
            number = draw.choice([n for n, stream in enumerate(streams) if stream])
            clients[number].transport.send(streams[number].pop(0))
        await until(lambda: len(car.data) == 3 * len(b"".join(FRAMES)))
        got = sorted(b"\0" + frame + b"\0" for frame in car.data.split(b"\0") if frame)
        assert got == sorted(FRAMES * 3)

    run(test())


def test_noise_of_one_client_does_not_spoil_the_frames_of_another():
    async def test():
        owner, car = await owner_and_car()
        noisy = await Ear(owner.attach()).open()
        good = await Ear(owner.attach()).open()
        for n in range(20):
            noisy.transport.send(b"\xff" * 100)
            good.transport.send(FRAMES[n])
        await until(lambda: car.data == b"".join(FRAMES[:20]))

    run(test())


def test_what_the_car_says_reaches_every_client_whoever_asked():
    async def test():
        owner, car = await owner_and_car()
        local_endpoint("car").open(owner)
        near = await Ear(owner.attach()).open()
        far = await Ear(LocalSocket("tandem:///car", served.socket_path("car"))).open()
        await until(lambda: owner.clients == 2)
        for piece in pieces(b"".join(FRAMES), 2):
            car.transport.send(piece)
            await asyncio.sleep(0)  # a line is no faster than who reads it
        await until(lambda: near.data == far.data == b"".join(FRAMES))
        owner.close()
        await until(lambda: len(far.closed) == 1)

    run(test())


def test_noise_from_the_line_is_handed_on_so_that_clients_can_say_so():
    async def test():
        owner, car = await owner_and_car()
        client = await Ear(owner.attach()).open()
        for _ in range(10):
            car.transport.send(b"\xaa" * 100)
        await until(lambda: len(client.data) >= 900)

    run(test())


def test_a_client_that_does_not_read_loses_news_and_holds_nobody_up():
    async def test():
        owner, car = await owner_and_car()
        endpoint = local_endpoint("car")
        endpoint.open(owner)
        deaf = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        deaf.connect(str(served.socket_path("car")))
        keen = await Ear(LocalSocket("tandem:///car", served.socket_path("car"))).open()
        await until(lambda: owner.clients == 2)
        whole = b"".join(FRAMES)
        for _ in range(50):
            car.transport.send(whole)
            wanted = len(keen.data) + len(whole)
            await until(lambda n=wanted: len(keen.data) >= n)
        received = all_of(deaf)
        # What is neither waits in the owner, which is one batch at most.
        assert len(received) + owner.undelivered_bytes >= 49 * len(whole)
        assert len(received) < 10 * len(whole)  # bounded, by some hundred kilobytes at most
        cut = (b"\0" + frame + b"\0" for frame in received[: received.rindex(b"\0")].split(b"\0"))
        assert set(cut) <= {*FRAMES, b"\0\0"}  # and what it got was whole
        deaf.close()

    run(test())


def test_a_client_that_goes_away_is_forgotten_and_may_come_again():
    async def test():
        owner, car = await owner_and_car()
        client = await Ear(owner.attach()).open()
        client.transport.close()
        assert client.closed == [None]
        assert owner.clients == 0
        assert client.transport.send(FRAMES[0]) == 0
        await client.open()
        client.transport.send(FRAMES[1])
        await until(lambda: car.data == FRAMES[1])
        with pytest.raises(UsageFault, match="open already"):
            await client.open()

    run(test())


def test_nobody_attaches_to_an_owner_that_has_ended():
    async def test():
        owner, _ = await owner_and_car()
        client = owner.attach()
        assert (client.is_virtual, client.vehicle) == (False, None)  # its Identity says it
        owner.close()
        with pytest.raises(DeviceFault, match="has ended"):
            await Ear(client).open()

    run(test())


def test_two_owners_cannot_have_one_name():
    async def test():
        first, _ = await owner_and_car()
        second, _ = await owner_and_car()
        local_endpoint("car").open(first)
        with pytest.raises(DeviceFault, match="served by the name of car already"):
            local_endpoint("car").open(second)

    run(test())


def test_a_socket_that_a_dead_owner_left_is_taken_over(folder):
    async def test():
        left = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        left.bind(str(folder / "car.sock"))
        left.close()
        owner, car = await owner_and_car()
        local_endpoint("car").open(owner)
        client = await Ear(LocalSocket("tandem:///car", served.socket_path("car"))).open()
        client.transport.send(FRAMES[0])
        await until(lambda: car.data == FRAMES[0])

    run(test())


def test_the_line_is_opened_again_after_it_was_lost():
    async def test():
        owner, car = await owner_and_car()
        faults = []
        owner.lines.subscribe(faults.append)
        client = await Ear(owner.attach()).open()
        car.transport.close()
        assert isinstance(owner.line_fault, DeviceFault)
        client.transport.send(FRAMES[0])
        assert owner.unsent_bytes == len(FRAMES[0])
        assert client.closed == []  # the owner is still there
        await car.open()
        await until(lambda: owner.line_fault is None)
        assert [type(fault) for fault in faults] == [DeviceFault, type(None)]
        assert car.data == b""  # nothing old, and nothing of the owner's own
        client.transport.send(FRAMES[1])
        await until(lambda: car.data == FRAMES[1])
        owner.close()

    run(test())


class Line:
    """A transport that takes so many bytes of what it is given, and opens as the test says."""

    label = "line"

    def __init__(self, takes=1000, fault=None) -> None:
        self.takes, self.fault = takes, fault
        self.sent = []
        self.opened = self.closed = 0

    async def open(self, on_bytes, on_closed):
        self.opened += 1
        self.hear, self.lose = on_bytes, on_closed
        if self.fault:
            raise self.fault

    def send(self, data):
        self.sent.append(data)
        return min(len(data), self.takes)

    def close(self):
        self.closed += 1


class Listener:
    """A client that takes so many bytes."""

    def __init__(self, takes=1000) -> None:
        self.takes = takes
        self.got = []
        self.ended = 0

    def deliver(self, data):
        self.got.append(data)
        return min(len(data), self.takes)

    def end(self):
        self.ended += 1


def test_an_owner_begins_with_nothing_lost_and_nobody_there():
    owner = Owner(Line(), ManualClock(7))
    lost = (owner.unsent_bytes, owner.refused_bytes, owner.undelivered_bytes)
    assert (*lost, owner.clients) == (0, 0, 0, 0)
    assert (owner.is_ended, owner.line_fault, owner.label, owner.now_us()) == (
        False, None, "line", 7,
    )  # fmt: skip


def test_what_a_line_takes_in_part_is_counted_and_shown():
    owner, shown = Owner(Line(takes=3), ManualClock(9)), []
    owner.taps.subscribe(lambda it: shown.append(tuple(it)))
    owner.send(FRAMES[0] * 2)
    assert owner.unsent_bytes == 2 * len(FRAMES[0]) - 3
    assert shown == [(UP, FRAMES[0] * 2, 9)]
    owner.send(FRAMES[0])
    assert owner.unsent_bytes == 3 * len(FRAMES[0]) - 6


def test_what_a_client_does_not_take_is_counted_and_kept_from_nobody_else():
    async def test():
        line = Line()
        owner = Owner(line, ManualClock(9))
        await owner.start()
        shown, deaf, keen = [], Listener(takes=0), Listener()
        owner.taps.subscribe(lambda it: shown.append(tuple(it)))
        owner.join(deaf)
        owner.join(keen)
        for _ in range(2):
            line.hear(FRAMES[3])
        assert keen.got == deaf.got == [FRAMES[3]] * 2
        assert owner.undelivered_bytes == 2 * len(FRAMES[3])
        assert shown == [(DOWN, FRAMES[3], 9)] * 2
        line.hear(b"half a frame")
        assert len(keen.got) == len(shown) == 2
        owner.leave(deaf)
        owner.leave(deaf)  # again is nothing
        assert owner.clients == 1
        line.hear(b"\0")
        assert keen.got[-1] == b"half a frame\0"
        assert len(deaf.got) == 2
        owner.close()
        assert (keen.ended, deaf.ended, line.closed, owner.is_ended) == (1, 0, 1, True)

    run(test())


def test_a_line_that_cannot_be_opened_says_where_whatever_raised():
    async def test():
        with pytest.raises(DeviceFault, match="it cannot begin") as fault:
            await Owner(Line(fault=RuntimeError("it cannot begin")), ManualClock()).start()
        assert "line" in str(fault.value)

    run(test())


def test_a_line_that_is_out_is_tried_four_times_a_second_until_the_owner_ends(monkeypatch):
    async def test():
        line, slept = Line(), []
        owner = Owner(line, ManualClock())
        faults = []
        owner.lines.subscribe(faults.append)
        await owner.start()
        sleep = asyncio.sleep

        async def falls_asleep(seconds):
            slept.append(seconds)
            line.fault = None if len(slept) == 3 else DeviceFault("not yet")
            await sleep(0)

        monkeypatch.setattr(asyncio, "sleep", falls_asleep)
        gone = OSError("gone")
        line.lose(gone)
        assert (owner.line_fault, faults) == (gone, [gone])
        for _ in range(2):
            await sleep(0)
        assert isinstance(owner.line_fault, DeviceFault)
        for _ in range(10):
            await sleep(0)
        assert slept == [0.25] * 3
        assert (line.opened, owner.line_fault, faults) == (4, None, [gone, None])
        line.lose(gone)
        owner.close()
        for _ in range(10):
            await sleep(0)
        assert line.opened <= 5
        line.lose(gone)  # after its end it is nobody's business
        assert len(faults) == 3

    run(test())


def test_a_word_goes_only_if_both_its_client_and_the_line_have_room():
    for ours, lines, goes in ((10, 10, True), (9, 10, False), (10, 9, False)):
        line = Line()
        owner = Owner(line, ManualClock())
        owner._line = admission.TokenBucket(0.0, lines)
        client = admission.TokenBucket(0.0, ours)
        assert owner.relay(b"123456789\0", client) is goes
        assert line.sent == ([b"123456789\0"] if goes else [])
        assert client.has(1, 0) is not goes  # what went is taken of it
        assert owner._line.has(1, 0) is not goes


def test_a_line_says_whether_all_of_it_went_stops_first_and_the_rest_as_it_fits(monkeypatch):
    stop = wire.encode(wire.new(Stop, token=7, sender=4, sender_name=bytes(16)))
    word = FRAMES[5]
    monkeypatch.setattr(admission, "client_bucket", lambda: admission.TokenBucket(0.0, len(word)))
    line = Line()
    owner = Owner(line, ManualClock())
    client = owner.join(Listener())
    assert client.feed(word + stop + word) is False
    assert line.sent == [stop, word]
    assert owner.refused_bytes == len(word)
    assert client.feed(stop) is False  # one every 10 ms
    client = owner.join(Listener())
    assert client.feed(stop + word) is True
    assert line.sent[2:] == [stop, word]
    assert owner.refused_bytes == len(word)


def test_a_stop_counts_for_nothing_else_and_what_comes_together_goes_together(monkeypatch):
    stop = wire.encode(wire.new(Stop, token=7, sender=4, sender_name=bytes(16)))
    word = b"\0" + b"\6" * (len(stop) - 2) + b"\0"
    monkeypatch.setattr(
        admission, "client_bucket", lambda: admission.TokenBucket(0.0, 2 * len(word))
    )
    line = Line()
    client = Owner(line, ManualClock()).join(Listener())
    assert client.feed(stop) is True
    assert client.feed(word * 2) is True
    assert line.sent == [stop, word * 2]


def test_of_what_comes_together_only_what_is_not_permitted_is_refused():
    word = wire.encode(wire.new(Identify, token=9, challenge=b"12345678"))
    stop = wire.encode(wire.new(Stop, token=7, sender=4, sender_name=bytes(16)))
    line = Line()
    owner = Owner(line, ManualClock())
    assert owner.join(Listener(), ClientRight.WATCH).feed(word + stop) is True
    assert (line.sent, owner.refused_bytes) == ([word], len(stop))


def test_a_client_in_the_same_process_hears_later_and_nothing_once_it_is_closed():
    async def test():
        line = Line()
        owner = Owner(line, ManualClock())
        await owner.start()
        near = owner.attach()
        assert near.label == "line"
        assert near.send(FRAMES[0]) == 0
        near.close()  # was not open
        near.deliver(FRAMES[0])
        await asyncio.sleep(0)
        ear = await Ear(near).open()
        assert near.send(FRAMES[0]) == len(FRAMES[0])
        assert near.deliver(FRAMES[1]) == len(FRAMES[1])
        assert ear.data == b""
        await asyncio.sleep(0)
        assert ear.data == FRAMES[1]
        near.deliver(FRAMES[2])
        near.close()
        await asyncio.sleep(0)
        assert ear.data == FRAMES[1]
        assert ear.closed == [None]
        other = await Ear(owner.attach()).open()
        owner.close()
        assert other.closed == [None]

    run(test())


def test_a_log_shows_what_went_out_and_nothing_that_did_not():
    async def test():
        owner, car = await owner_and_car()
        logged = []
        owner.taps.subscribe(lambda it: logged.append(it[:2]))
        owner.send(FRAMES[0])
        car.transport.close()
        owner.send(FRAMES[1])  # there is no line
        assert logged == [(UP, FRAMES[0])]
        assert owner.unsent_bytes == len(FRAMES[1])
        owner.close()

    run(test())


def test_half_a_frame_before_the_line_was_lost_is_not_joined_to_what_comes_after():
    async def test():
        owner, car = await owner_and_car()
        client = await Ear(owner.attach()).open()
        car.transport.send(b"\0half")
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        car.transport.close()
        await car.open()
        await until(lambda: owner.line_fault is None)
        car.transport.send(b"other\0" + FRAMES[3])
        await until(lambda: client.data.endswith(FRAMES[3]))
        assert b"halfother" not in client.data
        owner.close()

    run(test())
