"""``sim+process://``: the car's program, started and left alone by a host."""

import asyncio
import os
import signal

import pytest

from host_bridge.config import load_vehicle
from host_bridge.core.errors import TandemError
from host_bridge.sharing.services import make_host
from sim_mock.programs import process
from sim_mock.virtual_car.config import virtual_car_config
from tests.sim_mock.virtual_car.test_transport import Heard
from tests.support import patience

pytestmark = pytest.mark.process

CONFIG = virtual_car_config(load_vehicle("f1tenth"), {})
URI = "sim+process://f1tenth?runtime=cpython&name=one"


async def soon(is_so, what, within_s=8.0):
    deadline = patience.Deadline(within_s)
    while not is_so():
        deadline.check(what)
        await asyncio.sleep(0.01)


def lives(pid):
    return os.path.exists(f"/proc/{pid}")


def test_a_car_of_its_own_process_talks_and_ends_alone_after_the_close():
    heard = Heard()

    async def main():
        transport = make_host().cars.transport(URI)
        assert transport.send(b"\0") == 0
        await transport.open(heard.on_bytes, heard.closed.append)
        car = transport.car
        await soon(lambda: len(heard.statuses) > 20, "statuses")
        assert transport.send(b"\0") == 1
        transport.close()
        assert lives(car.process.pid)
        assert await patience.within(car.process.wait(), 8) == 0

    asyncio.run(main())
    assert heard.closed == [None]


def test_opened_again_after_a_close_it_is_a_new_car():
    """The old one is on its way out: it must not be relied on."""
    heard = Heard()

    async def main():
        transport = make_host().cars.transport(URI)
        await transport.open(heard.on_bytes, heard.closed.append)
        first = transport.car
        transport.close()
        await transport.open(heard.on_bytes, heard.closed.append)
        second = transport.car
        assert second.process.pid != first.process.pid
        await patience.within(first.process.wait(), 8)
        count = len(heard.statuses)
        await soon(lambda: len(heard.statuses) > count + 20, "statuses of the second")
        transport.close()
        await patience.within(second.process.wait(), 8)

    asyncio.run(main())


def test_a_car_whose_process_dies_is_a_closed_line():
    heard = Heard()

    async def main():
        transport = make_host().cars.transport(URI)
        await transport.open(heard.on_bytes, heard.closed.append)
        transport.car.process.send_signal(signal.SIGKILL)
        await soon(lambda: heard.closed, "the end of the line", 1.0)
        await transport.car.process.communicate()
        transport.close()

    asyncio.run(main())
    assert heard.closed[0] is not None


def test_a_car_that_does_not_come_up_says_why(monkeypatch):
    monkeypatch.setenv("MICROPYTHON", "/bin/false")
    with pytest.raises(RuntimeError, match="no micropython on this machine"):
        asyncio.run(process.start(CONFIG, "micropython"))


def test_a_car_that_says_nothing_is_ended(monkeypatch):
    monkeypatch.setattr(process, "_STARTS_WITHIN_S", 0.0)
    with pytest.raises(RuntimeError, match="did not start"):
        asyncio.run(process.start(CONFIG, "cpython"))


def test_an_unknown_vehicle_is_refused_by_name():
    with pytest.raises(TandemError, match="nogel"):
        make_host().cars.transport("sim+process://nogel")
