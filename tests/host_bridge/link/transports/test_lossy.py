from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from host_bridge.core.errors import DeviceFault, UsageFault
from host_bridge.link.transports.base import Transport
from host_bridge.link.transports.loopback import LoopbackEnd
from host_bridge.link.transports.lossy import LossyTransport, lines_of
from host_bridge.link.transports.uri import Uri, open_transport
from tests.host_bridge.link.contract import (
    ALL_BYTES,
    Bench,
    BusContract,
    Ear,
    Wire,
    echoed,
    opened,
    run_strictly,
)
from tests.host_bridge.link.transports.test_loopback import OtherEnd
from tests.host_bridge.link.transports.test_serial_port import Terminal

FRAME = b"\0" + bytes(range(1, 30)) + b"\0"


class TestPerfectLine(BusContract):
    query = ""

    @asynccontextmanager
    async def wire(self) -> AsyncIterator[Wire]:
        near, far = (
            open_transport(f"{way}loopback://wire{query}", Bench()) for way, query in self.ends()
        )
        assert isinstance(far, LoopbackEnd)
        yield Wire(near, OtherEnd(far))

    def ends(self) -> tuple[tuple[str, str], ...]:
        return ("lossy+", self.query), ("", "")


class TestSlowLine(TestPerfectLine):
    query = "?delay_ms=2"


def test_a_serial_port_works_behind_a_line() -> None:
    async def run() -> None:
        terminal = Terminal()
        port = open_transport(f"lossy+serial://{terminal.device}?baud=115200&delay_ms=1", Bench())
        wire = Wire(port, terminal)
        ear = await opened(wire)
        await echoed(wire, ear, ALL_BYTES)
        port.close()
        terminal.cut()

    run_strictly(run())


def ends_of(query: str) -> tuple[LossyTransport, Transport]:
    near = open_transport(f"lossy+loopback://bad?{query}", Bench())
    assert isinstance(near, LossyTransport)
    return near, open_transport("loopback://bad", Bench())


async def exchanged(query: str, count: int) -> tuple[LossyTransport, Ear, Ear]:
    """Frames sent both ways over a bad line; what the host heard, and what the car heard."""
    near, far = ends_of(query)
    host, car = Ear(), Ear()
    await near.open(host.on_bytes, host.on_closed)
    await far.open(car.on_bytes, car.on_closed)
    for _ in range(count):
        near.send(FRAME)
        far.send(FRAME)
        await asyncio.sleep(0)
    await car.until(lambda: arrived(car) == count - near.up.counts.lost)
    await host.until(lambda: arrived(host) == count - near.down.counts.lost)
    near.close()
    return near, host, car


def arrived(ear: Ear) -> int:
    return len(ear.data) // len(FRAME)


def test_both_directions_suffer_each_in_its_own_way() -> None:
    near, host, car = run_strictly(exchanged("loss=0.5&seed=1", 200))
    assert near.up.counts.lost == 200 - arrived(car) > 60
    assert near.down.counts.lost == 200 - arrived(host) > 60
    assert near.up.counts.lost != near.down.counts.lost


@pytest.mark.parametrize(("direction", "up", "down"), [("up", 50, 0), ("down", 0, 50)])
def test_one_direction_alone_can_be_bad(direction: str, up: int, down: int) -> None:
    near, _, _ = run_strictly(exchanged(f"loss=1&direction={direction}", 50))
    assert (near.up.counts.lost, near.down.counts.lost) == (up, down)


def test_a_delayed_line_delivers_late() -> None:
    async def run() -> float:
        start_s = asyncio.get_running_loop().time()
        await exchanged("delay_ms=30&jitter_ms=10", 5)
        return asyncio.get_running_loop().time() - start_s

    assert run_strictly(run()) >= 0.03


def test_what_is_on_its_way_when_the_line_is_closed_never_arrives() -> None:
    async def run() -> None:
        near, far = ends_of("delay_ms=20")
        host, car = Ear(), Ear()
        await near.open(host.on_bytes, host.on_closed)
        await far.open(car.on_bytes, car.on_closed)
        near.send(FRAME)
        near.close()
        await near.open(host.on_bytes, lambda _: None)
        await far.open(car.on_bytes, lambda _: None)
        near.send(FRAME)
        car.closed.clear()
        await car.until(lambda: bool(car.data))
        assert arrived(car) == 1

    run_strictly(run())


def test_an_inner_transport_that_does_not_open_may_be_tried_again() -> None:
    async def run() -> None:
        ear = Ear()
        port = open_transport("lossy+serial:///dev/ttyNOTHERE", Bench())
        for _ in range(2):
            with pytest.raises(DeviceFault, match="no such port"):
                await port.open(ear.on_bytes, ear.on_closed)
        assert port.send(FRAME) == 0

    run_strictly(run())


def test_lines_can_be_put_one_behind_the_other() -> None:
    near = open_transport("lossy+lossy+loopback://two?loss=1&inner.loss=0.5", Bench())
    assert near.label == "lossy+lossy+loopback://two"


def test_a_parameter_of_the_inner_transport_is_left_to_it() -> None:
    port = open_transport("lossy+serial:///dev/ttyACM0?loss=0.1&baud=115200&seed=3", Bench())
    assert port.label == "lossy+serial:///dev/ttyACM0?baud=115200"


def test_a_parameter_that_nobody_knows_is_refused() -> None:
    with pytest.raises(UsageFault, match="los"):
        open_transport("lossy+serial:///dev/ttyACM0?los=0.1", Bench())


def test_a_parameter_of_both_can_be_meant_for_the_inner_one() -> None:
    with pytest.raises(UsageFault, match="unknown parameter 'seed'"):
        open_transport("lossy+loopback://x?seed=3&inner.seed=1", Bench())


@pytest.mark.parametrize(
    "query",
    [
        "loss=1.5",
        "loss=-0.1",
        "loss=nan",
        "loss=much",
        "corrupt=2",
        "duplicate=2",
        "delay_ms=-1",
        "jitter_ms=1e9",
        "seed=-1",
        "seed=0.5",
        "burst=0.1",
        "burst=0.1,0",
        "burst=0.1,2",
        "burst=a,b",
        "gap=0.1,20",
        "gap=2,20,1.5",
        "gap=0.1,0,1.5",
        "gap=0.1,20,0",
        "gap=0.1,20,nan",
        "direction=left",
    ],
)
def test_a_parameter_out_of_its_range_is_refused_by_name(query: str) -> None:
    with pytest.raises(UsageFault) as caught:
        open_transport(f"lossy+loopback://x?{query}", Bench())
    assert query.partition("=")[0] in caught.value.what
    assert caught.value.got == query.partition("=")[2]


def test_gaps_are_read_as_a_chance_milliseconds_and_a_shape() -> None:
    up, down, _ = lines_of(Uri.parse("lossy+loopback://x?gap=1,20,1.5&direction=up"))
    up.pass_(b"\0a\0", 0)
    down.pass_(b"\0a\0", 0)
    assert (up.counts.lost_in_bursts, down.counts.lost_in_bursts) == (1, 0)
    assert up._parameters.gap_least_us == 20_000
    assert up._parameters.gap_shape == 1.5


def test_a_bad_line_alone_is_refused() -> None:
    with pytest.raises(UsageFault, match="behind it"):
        open_transport("lossy://x", Bench())
