"""A radio at the owner: a runstop box's messages go to its car, and the answers go back."""

from __future__ import annotations

from collections.abc import Callable

from host_bridge.core.system.clock import Clock
from host_bridge.link.transports.base import Transport
from host_bridge.sharing.owner.owner import ClientLine, Owner
from host_bridge.sharing.owner.radio_filter import RadioFilter
from host_bridge.sharing.owner.rights import NONE, ClientRight


class RadioEndpoint:
    """The endpoint of a radio.

    The radio's line has an owner as a car's has, which reopens it.
    """

    def __init__(self, transport: Transport, clock: Clock) -> None:
        self.owner = Owner(transport, clock)
        self.filter = RadioFilter()
        self._to_car: ClientLine | None = None

    async def start(self) -> None:
        """Open the radio's line. Raises errors.TandemError."""
        await self.owner.start()

    def open(self, owner: Owner) -> None:
        self._to_car = owner.join(_ListeningClient(self._towards_box), ClientRight.STOP)
        self.owner.join(_ListeningClient(self._towards_car), NONE)

    def close(self) -> None:
        if self._to_car:
            self._to_car.end()
        self._to_car = None
        self.owner.close()

    def _towards_car(self, frames: bytes) -> None:
        if self._to_car:
            self._to_car.feed(self.filter.incoming(frames))

    def _towards_box(self, frames: bytes) -> None:
        needed = self.filter.outgoing(frames)
        if needed:
            self.owner.send(needed)


class _ListeningClient:
    """A client of an owner that only listens."""

    def __init__(self, hear: Callable[[bytes], None]) -> None:
        self._hear = hear

    def deliver(self, data: bytes) -> int:
        self._hear(data)
        return len(data)

    def end(self) -> None:
        """Do nothing: its creator ends it."""
