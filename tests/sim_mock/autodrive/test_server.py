"""The socket: a client as the simulator's, one at a time, at its full rate, at home only."""

import asyncio
import time

import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from host_bridge.config import load_vehicle
from sim_mock.autodrive.exchange import DrivenVehicle
from sim_mock.autodrive.server import SimulatorServer
from sim_mock.autodrive.transport import LOOPBACK, plant_in_simulator
from sim_mock.virtual_car.config import virtual_car_config
from tests.sim_mock.autodrive.unity import Unity
from tests.support import patience

URL = "ws://127.0.0.1:{}/socket.io/?EIO=4&transport=websocket"
NEUTRAL = (0,) * 8


class Clock:
    """Set by the test; a plant that is stepped with it is never lost by itself."""

    def __init__(self, plant):
        self.plant = plant

    def now_us(self):
        return self.plant.now_us

    def pass_ms(self, ms):
        for _ in range(ms):
            self.plant.step(0.001, NEUTRAL, True)


def run(main, **options):
    async def whole():
        plant = plant_in_simulator(virtual_car_config(load_vehicle("nigel"), {}), "nigel")
        clock = Clock(plant)
        server = SimulatorServer(clock.now_us)
        server.driven[1] = DrivenVehicle(plant, clock.now_us, **options)
        port = await server.open(LOOPBACK, 0)
        try:
            await patience.within(main(server, clock, URL.format(port)), 10.0)
        finally:
            server.close()

    asyncio.run(whole())


async def exchange(socket, unity, frames):
    """As many frames as it takes, as fast as they are answered."""
    while unity.frames < frames:
        reply = unity.on_text(await socket.recv())
        if reply:
            await socket.send(reply)


async def greeted(socket, unity):
    """``0{...}`` and ``40`` are read, nothing is said to them."""
    for start in ("0{", "40"):
        text = await socket.recv()
        assert text.startswith(start)
        assert unity.on_text(text) is None


def test_a_simulator_exchanges_130_frames_a_second_and_more():
    async def main(server, clock, url):
        unity = Unity()
        async with connect(url, compression=None) as socket:
            await greeted(socket, unity)
            await socket.send(unity.on_open())
            begun_s = time.monotonic()
            await exchange(socket, unity, 391)
            patience.took(begun_s, 390 / 130.0, "390 frames", 1.0)
        assert unity.swallowed == []

    run(main)


def test_a_ping_is_answered_though_nobody_connected_a_namespace():
    async def main(server, clock, url):
        async with connect(url) as socket:
            await greeted(socket, Unity())
            await socket.send("2")
            assert await socket.recv() == "3"

    run(main)


def test_a_frame_of_megabytes_is_answered():
    async def main(server, clock, url):
        async with connect(url) as socket:
            await greeted(socket, Unity())
            await socket.send('42["Bridge",{"V1 Front Camera Image":"' + "A" * (8 << 20) + '"}]')
            assert (await socket.recv()).startswith('42["Bridge",')

    run(main)


def test_the_first_simulator_keeps_the_car_until_it_is_silent():
    async def main(server, clock, url):
        first, second = Unity(), Unity()
        async with connect(url) as one:
            await greeted(one, first)
            await one.send(first.on_open())
            await exchange(one, first, 5)
            with pytest.raises(InvalidStatus, match="503"):
                await connect(url)
            clock.pass_ms(501)
            async with connect(url) as two:
                await greeted(two, second)
                await two.send(second.on_open())
                await exchange(two, second, 5)
                with pytest.raises(ConnectionClosed):
                    await exchange(one, first, 1000)

    run(main)


def test_a_simulator_that_hangs_up_is_lost_at_once():
    async def main(server, clock, url):
        unity = Unity()
        async with connect(url) as socket:
            await greeted(socket, unity)
            await socket.send(unity.on_open())
            await exchange(socket, unity, 5)
            assert not server.is_lost
        await asyncio.sleep(0.05)
        assert server.is_lost

    run(main)


def test_a_stalled_simulator_is_started_again_over_the_socket():
    async def main(server, clock, url):
        unity = Unity()
        unity.breaks_next = True
        async with connect(url) as socket:
            await greeted(socket, unity)
            await socket.send(unity.on_open())
            assert unity.on_text(await socket.recv()) is None  # swallowed
            clock.pass_ms(501)
            await exchange(socket, unity, 10)
        assert server.exchange.restarts == 1

    run(main)


@pytest.mark.parametrize("origin", ["https://example.org", "null"])
def test_a_page_in_a_browser_is_refused(origin):
    async def main(server, clock, url):
        with pytest.raises(InvalidStatus, match="403"):
            await connect(url, origin=origin)

    run(main)


def test_another_path_is_refused():
    async def main(server, clock, url):
        with pytest.raises(InvalidStatus, match="404"):
            await connect(url.replace("socket.io", "elsewhere"))

    run(main)
