from __future__ import annotations

import asyncio
import socket

from host_bridge.link.transports.descriptor import BACKLOG_BYTES, Stream
from tests.host_bridge.link.contract import run_strictly, settled

FRAME = b"\0" + bytes(range(1, 39)) + b"\0"


def deaf(_: bytes) -> None:
    raise AssertionError("nothing was sent here")


def broken(error: OSError | None) -> None:
    raise AssertionError(f"the far end is there, but: {error}")


def test_a_blocking_descriptor_is_made_not_to() -> None:
    async def run() -> None:
        near, far = socket.socketpair()
        with near, far:
            stream = Stream(near.fileno(), deaf, broken)
            taken = [stream.send(FRAME) for _ in range(100_000)]
            stream.end()
            assert taken[0] == len(FRAME)
            assert taken[-1] == 0

    run_strictly(run())


def test_a_far_end_that_stops_reading_for_good_is_noticed_but_not_told_within_send() -> None:
    async def run() -> None:
        lost: list[OSError | None] = []
        near, far = socket.socketpair()
        with near, far:
            far.shutdown(socket.SHUT_RD)
            stream = Stream(near.fileno(), deaf, lost.append)
            stream.send(FRAME)
            assert not lost
            await settled()
            assert isinstance(lost[0], BrokenPipeError)
            assert len(lost) == 1

    run_strictly(run())


def test_what_waits_is_bounded_and_what_is_dropped_is_whole_frames() -> None:
    async def run() -> None:
        near, far = socket.socketpair()
        with near, far:
            stream = Stream(near.fileno(), deaf, broken)
            taken = b"".join(FRAME[: stream.send(FRAME)] for _ in range(100_000))
            far.setblocking(False)
            delivered = await drained(far)
            stream.end()
            assert delivered == taken
            assert taken == FRAME * (len(taken) // len(FRAME))

    run_strictly(run())


def test_the_backlog_is_no_longer_than_it_says() -> None:
    async def run() -> None:
        near, far = socket.socketpair()
        with near, far:
            stream = Stream(near.fileno(), deaf, broken)
            taken = sum(stream.send(FRAME) for _ in range(100_000))
            stream.end()  # what waited in it is gone, the rest is the system's
            far.setblocking(False)
            assert 0 < taken - len(await drained(far)) <= BACKLOG_BYTES

    run_strictly(run())


def test_more_than_the_backlog_is_taken_when_nothing_waits() -> None:
    async def run() -> None:
        near, far = socket.socketpair()
        with near, far:
            far.setblocking(False)
            stream = Stream(near.fileno(), deaf, broken)
            block = bytes(range(256)) * 4000
            assert stream.send(block) == len(block)
            assert await drained(far) == block
            stream.end()

    run_strictly(run())


async def drained(far: socket.socket) -> bytes:
    """All that comes until nothing does for a while."""
    loop = asyncio.get_running_loop()
    data = bytearray()
    try:
        while True:
            data += await asyncio.wait_for(loop.sock_recv(far, 65_536), 0.05)
    except asyncio.TimeoutError:
        return bytes(data)
