"""A radio's way into an owner, in this process: what passes, what does not, and how it ends."""

from __future__ import annotations

from firmware.protocol import messages
from firmware.protocol.boxes import BoxHeard, BoxWord
from host_bridge.core.system.clock import MonotonicClock
from host_bridge.link.transports import loopback
from host_bridge.sharing.owner.radio import RadioEndpoint
from sim_mock.faults.trial.host import framed
from tests.host_bridge.sharing.desk import Ear, owner_and_car, run
from tests.host_bridge.sharing.desk import until as soon

STOP, WORD, CLAIM = framed(messages.Stop()), framed(BoxWord()), framed(messages.Claim())
STATUS, SEEN = framed(messages.Status()), framed(messages.StopSeen())
HEARD = framed(BoxHeard())
MOTION = framed(messages.Motion())


class Desk:
    """An owner and its car, an endpoint, and the box's end of the radio."""

    async def begin(self) -> Desk:
        self.owner, self.car = await owner_and_car()
        ours, boxes = loopback.pair("loopback://radio")
        self.endpoint = RadioEndpoint(ours, MonotonicClock())
        await self.endpoint.start()
        self.box = await Ear(boxes).open()
        return self

    async def settled(self) -> None:
        """Everything that was said before has arrived: what is said last is heard last."""
        before = self.car.data
        self.owner.send(STOP)
        await soon(lambda: len(self.car.data) >= len(before) + len(STOP))
        self.car.data = self.car.data.removesuffix(STOP)

    def end(self) -> None:
        self.owner.close()


def test_a_box_stops_the_car_and_hears_what_it_needs():
    async def main():
        desk = await Desk().begin()
        desk.endpoint.open(desk.owner)
        assert (desk.owner.clients, desk.endpoint.owner.clients) == (1, 1)
        desk.box.transport.send(CLAIM + STOP + WORD)
        await soon(lambda: len(desk.car.data) >= len(STOP + WORD))
        await desk.settled()
        assert desk.car.data == STOP + WORD
        assert desk.endpoint.filter.refused == 1
        assert desk.owner.refused_bytes == 0
        desk.car.transport.send(MOTION)
        desk.car.transport.send(STATUS + STATUS + SEEN)
        desk.car.transport.send(HEARD)
        await soon(lambda: len(desk.box.data) >= len(SEEN + HEARD))
        assert desk.box.data == SEEN + HEARD
        assert (desk.owner.undelivered_bytes, desk.endpoint.owner.undelivered_bytes) == (0, 0)
        assert desk.endpoint.owner.unsent_bytes == 0
        desk.endpoint.close()
        desk.end()

    run(main())


def test_before_it_is_open_nothing_passes():
    async def main():
        desk = await Desk().begin()
        desk.box.transport.send(STOP)
        await desk.settled()
        assert (desk.car.data, desk.owner.clients) == (b"", 0)
        desk.endpoint.close()
        await soon(lambda: bool(desk.box.closed))
        desk.end()

    run(main())


def test_once_it_is_closed_nothing_passes_and_the_car_is_left():
    async def main():
        desk = await Desk().begin()
        desk.endpoint.open(desk.owner)
        desk.endpoint.close()
        assert desk.owner.clients == 0
        await soon(lambda: bool(desk.box.closed))
        assert desk.endpoint.owner.is_ended
        desk.endpoint._towards_car(STOP)
        await desk.settled()
        assert desk.car.data == b""
        desk.endpoint.close()  # once more does no harm
        desk.end()

    run(main())
