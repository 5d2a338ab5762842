"""``replay://``: a log plays as it was recorded, at any speed, to whoever opens it."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from host_bridge.core.errors import DataFileFault, DeviceFault, UsageFault
from host_bridge.core.system.clock import ManualClock, MonotonicClock
from host_bridge.link.transports.base import TransportContext
from host_bridge.link.transports.uri import open_transport
from host_bridge.logs.reading import Record
from host_bridge.logs.recorder import DOWN, UP, create
from host_bridge.logs.replay import Playback

START_US = 77_000_000
FRAMES = [(0, b"\0one\0"), (10_000, b"\0two\0"), (10_000, b"\0three\0"), (30_000, b"\0four\0")]


@pytest.fixture
def path(tmp_path) -> Path:
    path = tmp_path / "drive.mcap"
    recorder = create(path, ManualClock(START_US), 0, {})
    for at_us, data in FRAMES:
        recorder.frame("b", DOWN, data, START_US + at_us)
        recorder.frame("b", UP, b"\0claim\0", START_US + at_us)
        recorder.message("b", "status", {"speed_mps": 1.0}, START_US + at_us)
    recorder.frame("a", DOWN, b"\0other car\0", START_US)
    recorder.close()
    return path


def unasked(name: str):
    raise AssertionError("a log needs no vehicle file, and no other transport")


def opened(text: str):
    return open_transport(text, TransportContext(MonotonicClock().now_us, unasked, unasked))


async def played(text: str) -> tuple[list[bytes], Exception | None]:
    transport = opened(text)
    ended: asyncio.Future[Exception | None] = asyncio.get_running_loop().create_future()
    came: list[bytes] = []
    await transport.open(came.append, ended.set_result)
    assert transport.send(b"\0stop\0") == 6
    return came, await ended


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("", "which car of the log"),
        ("?car=c", "expected: car=a or car=b"),
        ("?car=a&speed=0", "speed does not fit"),
        ("?car=a&sped=2", "did you mean speed"),
    ],
)
def test_a_uri_that_cannot_be_meant_so_is_refused(path, query, message):
    with pytest.raises(UsageFault, match=message):
        opened(f"replay://{path}{query}")


def test_what_is_no_log_is_refused(tmp_path):
    (tmp_path / "other.mcap").write_text("something else altogether")
    with pytest.raises(DataFileFault, match="no log of Tandem"):
        opened(f"replay://{tmp_path}/other.mcap")
    with pytest.raises(DataFileFault, match="cannot be read"):
        opened(f"replay://{tmp_path}/none.mcap")


def test_a_car_says_again_what_it_said_and_then_the_line_ends(path):
    came, why = asyncio.run(played(f"replay://{path}?car=b&speed=100"))
    assert came == [data for _, data in FRAMES]
    assert isinstance(why, DeviceFault)
    assert "the log has ended" in str(why)


def test_the_only_car_needs_no_name(tmp_path):
    path = tmp_path / "one.mcap"
    recorder = create(path, ManualClock(), 0, {})
    recorder.frame("solo", DOWN, b"\0hello\0", 0)
    recorder.close()
    came, _ = asyncio.run(played(f"replay://{path}"))
    assert came == [b"\0hello\0"]


def test_closing_ends_it_once_and_it_can_be_opened_again(path):
    async def session():
        transport = opened(f"replay://{path}?car=b&speed=100")
        ends: list[Exception | None] = []
        await transport.open(lambda _: transport.close(), ends.append)
        with pytest.raises(UsageFault, match="open already"):
            await transport.open(lambda _: None, ends.append)
        while not ends:
            await asyncio.sleep(0)
        transport.close()
        assert ends == [None]
        assert transport.send(b"x") == 0
        again: asyncio.Future[Exception | None] = asyncio.get_running_loop().create_future()
        came: list[bytes] = []
        await transport.open(came.append, again.set_result)
        await again
        return came

    assert asyncio.run(session()) == [data for _, data in FRAMES]


@pytest.mark.parametrize("speed", [0.5, 1.0, 4.0])
def test_bytes_are_due_when_they_came_scaled_by_the_speed(speed):
    records = [Record(START_US + at_us, "b", DOWN, data) for at_us, data in FRAMES]
    playback = Playback(records, 1000, speed)
    for at_us, expected in ((0, 1), (10_000, 2), (30_000, 1)):
        due_us = 1000 + round(at_us / speed)
        assert playback.next_us == due_us
        assert playback.due(due_us - 1) == []
        assert len(playback.due(due_us)) == expected
    assert playback.next_us is None
    assert playback.due(10**12) == []
