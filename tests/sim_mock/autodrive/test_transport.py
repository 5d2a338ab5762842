"""``autodrive://``: found by its URI, at home only, a whole car behind it."""

import asyncio
import socket

import pytest
from websockets.asyncio.client import connect

from host_bridge.core.errors import UsageFault
from host_bridge.link.protocol import wire
from host_bridge.sharing.services import make_host
from sim_mock.autodrive.transport import port_of
from tests.sim_mock.autodrive.unity import Unity
from tests.support import patience
from tests.support.evidence import some


def free_port():
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        return listening.getsockname()[1]


def run(text, main):
    """The statuses that came."""
    decoder, statuses = wire.MessageDecoder(), []

    def on_bytes(data):
        statuses.extend(m for m in decoder.feed(data) if type(m).__name__ == "Status")

    async def whole():
        transport = make_host().cars.transport(text)
        await transport.open(on_bytes, lambda _: None)
        try:
            await patience.within(main(transport), 10.0)
        finally:
            transport.close()

    asyncio.run(whole())
    return statuses


async def play(unity, port, for_s, rate_hz=130):
    """The simulator for so many granted seconds, one exchange for each frame it renders."""
    end = patience.Deadline(for_s)
    url = f"ws://127.0.0.1:{port}/socket.io/?EIO=4&transport=websocket"
    async with connect(url, compression=None) as line:
        await line.send(unity.on_open())
        while not end.is_over():
            reply = unity.on_text(await line.recv())
            if reply:
                await asyncio.sleep(1 / rate_hz)
                await line.send(reply)


def test_the_loop_closes_with_the_simulator_and_opens_without():
    port, unity, seen = free_port(), Unity("f1tenth"), []

    async def main(transport):
        await asyncio.sleep(0.1)
        seen.append(transport.world.runstop_closed)
        await play(unity, port, 1.0)
        seen.append(transport.world.runstop_closed)
        await asyncio.sleep(0.1)
        seen.append(transport.world.runstop_closed)

    statuses = run(f"autodrive://:{port}?vehicle=f1tenth&car=roboracer&reset=1", main)
    assert seen == [False, True, False]
    assert unity.resets == 1
    assert unity.swallowed == []
    assert unity.frames > 60
    assert len(statuses) > 60  # the car talks to its host meanwhile


def test_it_listens_at_home_only():
    async def main(transport):
        for listening in some(transport.server._server.sockets):
            assert listening.getsockname()[0] == "127.0.0.1"

    run(f"autodrive://:{free_port()}?vehicle=nigel", main)


def test_a_port_that_is_taken_is_named():
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        port = listening.getsockname()[1]
        with pytest.raises(RuntimeError, match=f"cannot listen on 127.0.0.1 port {port}"):
            run(f"autodrive://:{port}?vehicle=nigel", asyncio.sleep)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("autodrive://:4567", "which car"),
        ("autodrive://0.0.0.0:4567?vehicle=nigel", "say host="),
        ("autodrive://localhost?vehicle=nigel", "say host="),
        ("autodrive://:99999?vehicle=nigel", "1 to 65535"),
        ("autodrive://:4567?vehicle=nigel&payload_kg=1", "unknown option 'payload_kg'"),
        ("autodrive://:4567?vehicle=autorally", "car= is one of nigel, f1tenth, roboracer"),
        ("autodrive://:4567?vehicle=nigel&car=tank", "no 'tank'"),
    ],
)
def test_what_it_does_not_know_is_refused(text, says):
    with pytest.raises(UsageFault, match=says):
        make_host().cars.transport(text)


def test_the_port_may_be_left_out():
    assert port_of("") == port_of(":") == 4567
    assert port_of(":5000") == 5000
