"""The asynchronous rim, over a real transport, with a real program at the far end."""

from __future__ import annotations

import asyncio
from contextlib import suppress

import pytest

from firmware.protocol.messages import Leave
from host_bridge.core import CarStatus, Sender, State
from host_bridge.core.errors import DeviceFault
from host_bridge.core.system.clock import MonotonicClock
from host_bridge.link.protocol import wire
from host_bridge.link.protocol.connection import Connection
from host_bridge.link.protocol.events import LinkLost
from host_bridge.link.protocol.runner import Runner
from host_bridge.link.transports.loopback import pair
from sim_mock.world import World
from tests.host_bridge.drive.drives import EPOCH, Rig, vehicle


class Far:
    """A virtual car at the far end of a cable, at the pace of the wall clock."""

    def __init__(self, end) -> None:
        self.end = end
        self.world = World(vehicle(), name="a")
        self.is_plugged = False

    async def run(self) -> None:
        start_s = asyncio.get_running_loop().time()
        while True:
            passed_us = int((asyncio.get_running_loop().time() - start_s) * 1e6)
            self.end.send(self.world.advance(passed_us))
            await asyncio.sleep(0.002)

    async def plug(self) -> None:
        self.is_plugged = True
        await self.end.open(self.world.feed, lambda fault: None)


async def until(holds, limit_s: float) -> float:
    loop = asyncio.get_running_loop()
    start_s = loop.time()
    while not holds():
        assert loop.time() - start_s < limit_s, f"not within {limit_s} s"
        await asyncio.sleep(0.001)
    return loop.time() - start_s


def on_a_cable(test):
    """Run ``test(rig, runner, far, heard)`` with everything connected."""

    async def whole() -> None:
        near, end = pair()
        rig, far, heard = Rig("a"), Far(end), []
        runner = Runner(near, rig.car, MonotonicClock(), heard.extend)
        await far.plug()
        await runner.open()
        tasks = [asyncio.ensure_future(far.run()), asyncio.ensure_future(runner.run())]
        try:
            await test(rig, runner, far, heard)
        finally:
            for task in tasks:
                task.cancel()
                with suppress(asyncio.CancelledError):
                    await task

    asyncio.run(whole())


def test_who_closes_says_that_it_leaves():
    async def drive(rig, runner, far, heard):
        await until(rig.car.connection.is_bound, 10.0)
        sent = bytearray()
        send = runner._transport.send
        runner._transport.send = lambda data: (sent.extend(data), send(data))[1]
        runner.close()
        assert bytes(sent).endswith(wire.encode(wire.new(Leave, epoch=EPOCH)))

    on_a_cable(drive)


def test_a_pulled_cable_is_known_at_once_and_a_plugged_one_reports_again():
    async def drive(rig, runner, far, heard):
        await until(rig.car.connection.clock.is_good, 2.0)
        far.end.close()
        assert await until(lambda: any(isinstance(e, LinkLost) for e in heard), 0.25) < 0.25
        assert isinstance(runner.fault, DeviceFault)
        await asyncio.sleep(0.3)
        heard.clear()
        await far.plug()
        await until(lambda: any(isinstance(e, CarStatus) for e in heard), 2.0)
        assert rig.car.status.state in (State.STARTING, State.STANDBY)
        assert runner.fault is None

    on_a_cable(drive)


def test_what_is_asked_for_leaves_at_once():
    async def drive(rig, runner, far, heard):
        await until(rig.car.connection.is_bound, 2.0)
        sent = []
        runner._transport.send, send = (
            lambda data: sent.append(data) or len(data),
            runner._transport.send,
        )
        rig.car.stop(Sender.SEAT, "x", MonotonicClock().now_us())
        assert len(sent) == 1, "without waiting for the next step"
        runner._transport.send = send

    on_a_cable(drive)


def test_a_transport_that_takes_nothing_is_counted():
    class Full:
        async def open(self, on_bytes, on_closed):
            pass

        def send(self, data):
            return 0

        def close(self):
            pass

    async def drive() -> None:
        connection = Connection(wire.own_protocol_hash(), EPOCH)
        runner = Runner(Full(), connection, MonotonicClock())
        await runner.open()
        connection.step(MonotonicClock().now_us())
        runner.flush()
        assert runner.unsent > 0

    asyncio.run(drive())


def test_a_transport_that_cannot_be_opened_says_so_at_first():
    class Missing:
        async def open(self, on_bytes, on_closed):
            raise DeviceFault("no such port")

        def send(self, data):
            return 0

        def close(self):
            pass

    async def drive() -> None:
        runner = Runner(Missing(), Connection(wire.own_protocol_hash(), 1), MonotonicClock())
        with pytest.raises(DeviceFault, match="no such port"):
            await runner.open()

    asyncio.run(drive())
