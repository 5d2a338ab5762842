"""``sim://``: a world kept level with the clock."""

import asyncio
import time
from itertools import pairwise

import pytest

from firmware.protocol import messages
from host_bridge.core.errors import UsageFault
from host_bridge.core.system.virtual_time import VirtualTimeLoop
from host_bridge.deploy.hil.host.small_host import framed
from host_bridge.link.protocol import wire
from host_bridge.sharing.services import make_host
from sim_mock.virtual_car.transport import SimTransport
from tests.firmware.worlds import world_of
from tests.support import patience


class Heard:
    """The far end: what came, and how it closed."""

    def __init__(self):
        self.statuses = []
        self.kinds = set()
        self.closed = []
        self._decoder = wire.MessageDecoder()

    def on_bytes(self, data):
        for message in self._decoder.feed(data):
            kind = type(message).__name__
            self.kinds.add(kind)
            if kind == "Status":
                self.statuses.append(message.time_us)


def run(text, main):
    heard = Heard()

    async def whole():
        transport = make_host().cars.transport(text)
        await transport.open(heard.on_bytes, heard.closed.append)
        try:
            await main(transport, heard)
        finally:
            transport.close()

    asyncio.run(whole())
    return heard


def test_a_car_says_a_hundred_statuses_a_second():
    async def main(transport, heard):
        await asyncio.sleep(0.2)
        watch = patience.witness()
        first, begun_s = len(heard.statuses), time.monotonic()
        await asyncio.sleep(0.6)
        count, wall_s = len(heard.statuses) - first, time.monotonic() - begun_s
        # beats for which a busy machine gave no time are missed
        assert 90 * watch.granted_s(begun_s) <= count <= 110 * wall_s

    heard = run("sim://f1tenth", main)
    assert heard.closed == [None]


class Clock:
    """A clock that a test puts forward."""

    def __init__(self):
        self.us = 5_000_000

    def __call__(self):
        return self.us


def test_beats_that_were_missed_are_missed_and_time_goes_on():
    """A host that stalls for a second must not see a second's statuses at once."""
    clock, heard = Clock(), Heard()

    async def main():
        transport = SimTransport("test", world_of(), clock)
        await transport.open(heard.on_bytes, heard.closed.append)
        await asyncio.sleep(0)
        for late_us in (10_000, 10_000, 1_000_000, 10_000):
            clock.us += late_us
            before = len(heard.statuses)
            while len(heard.statuses) == before:
                await asyncio.sleep(0.001)
        transport.close()

    asyncio.run(main())
    assert len(heard.statuses) < 10  # not the hundred that were missed
    assert heard.statuses[-1] - heard.statuses[0] == pytest.approx(1_020_000, abs=10_000)


def host_beside_a_plant(times_too_slow):
    """The clock at each turn of a host that always wants one, for ten seconds; what it heard."""
    loop, world, heard = VirtualTimeLoop(), world_of(), Heard()

    def take_long(_):
        loop.now_s += times_too_slow * 1e-3

    async def main():
        transport = SimTransport("test", world, loop.now_us)
        await transport.open(heard.on_bytes, heard.closed.append)
        turns_s = [loop.time()]
        while loop.time() < 10.0:
            transport.send(framed(messages.Identify()))
            await asyncio.sleep(0.001)
            turns_s.append(loop.time())
        transport.close()
        return turns_s

    world.observers.append(take_long)
    turns_s = loop.run_until_complete(main())
    loop.close()
    return turns_s, world, heard


@pytest.mark.parametrize("times_too_slow", [1.05, 1.5, 2.0, 3.0])
def test_a_plant_too_slow_for_its_machine_lets_the_host_have_its_turns(times_too_slow):
    turns_s, world, heard = host_beside_a_plant(times_too_slow)
    waits_s = [after - before for before, after in pairwise(turns_s)]
    assert max(waits_s) < 0.115 * times_too_slow**2  # it gives up at the second beat so late
    assert "Identity" in heard.kinds
    assert len(heard.statuses) > 20  # the program has its beats
    assert world.now_us * 1e-6 == pytest.approx(9.0 / times_too_slow, rel=0.15)


def test_who_drives_a_plant_too_slow_for_its_machine_is_told_once(caplog):
    host_beside_a_plant(2.0)
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    assert "too slow" in caplog.text
    assert "TANDEM_FAST=1" in caplog.text


def test_a_plant_that_keeps_up_loses_no_time(caplog):
    _, world, heard = host_beside_a_plant(0.9)
    assert not caplog.records
    assert world.now_us * 1e-6 == pytest.approx(9.0, abs=0.15)
    assert heard.statuses[-1] - heard.statuses[0] == pytest.approx(9e6, abs=2e5)


def test_it_answers_who_it_is():
    async def main(transport, heard):
        await asyncio.sleep(0.1)
        assert transport.send(framed(messages.Identify()))
        await asyncio.sleep(0.1)

    assert "Identity" in run("sim://nigel?name=one", main).kinds


def test_a_closed_car_takes_nothing_and_closes_once():
    heard = Heard()

    async def main():
        transport = make_host().cars.transport("sim://nigel")
        assert transport.send(b"\0") == 0
        await transport.open(heard.on_bytes, heard.closed.append)
        assert transport.send(b"\0") == 1
        transport.close()
        transport.close()
        assert transport.send(b"\0") == 0
        count = len(heard.statuses)
        await asyncio.sleep(0.05)
        assert len(heard.statuses) == count

    asyncio.run(main())
    assert heard.closed == [None]


def test_a_blank_car_talks_too():
    async def main(transport, heard):
        await asyncio.sleep(0.2)

    assert run("sim://nigel?blank=1", main).statuses


@pytest.mark.parametrize("scheme", ["sim", "sim+process"])
@pytest.mark.parametrize("query", ["sede=1", "seed=x", "patch=1", "payload_kg=-5"])
def test_a_wrong_option_is_an_error_of_usage_that_names_it(scheme, query):
    with pytest.raises(UsageFault, match=query.partition("=")[0]):
        make_host().cars.transport(f"{scheme}://nigel?{query}")


def test_a_runtime_that_there_is_not_is_refused():
    with pytest.raises(UsageFault, match="no runtime 'jython'; there is auto"):
        make_host().cars.transport("sim+process://nigel?runtime=jython")
