"""Both ends of a cable within one process; ``loopback://NAME``, asked for twice, gives the two."""

from __future__ import annotations

import asyncio

from host_bridge.core.errors import DeviceFault
from host_bridge.link.transports.base import OnBytes, OnClosed, TransportContext
from host_bridge.link.transports.descriptor import already_open
from host_bridge.link.transports.uri import Uri

Callbacks = tuple[OnBytes, OnClosed]

_second_ends: dict[str, LoopbackEnd] = {}


class LoopbackEnd:
    """One end of a loopback cable, a ``base.Transport``.

    What is sent while the other end is not open is lost, as on a wire. Closing one end ends the
    other too, as if its cable were pulled.
    """

    is_virtual = False
    vehicle: str | None = None

    def __init__(self, label: str) -> None:
        self.label = label
        self._other: LoopbackEnd | None = None
        self._callbacks: Callbacks | None = None

    def join(self, other: LoopbackEnd) -> None:
        """Connect this end with the other."""
        self._other, other._other = other, self

    async def open(self, on_bytes: OnBytes, on_closed: OnClosed) -> None:
        """Open this end. Raises errors.UsageFault if it is open already."""
        if self._callbacks:
            raise already_open(self.label)
        self._callbacks = (on_bytes, on_closed)

    def send(self, data: bytes) -> int:
        if not self._callbacks:
            return 0
        if self._other and self._other._callbacks:
            # Deferred, so that an answer sent from within on_bytes does not recurse
            arrive = self._other._receive
            asyncio.get_running_loop().call_soon(arrive, self._other._callbacks, bytes(data))
        return len(data)

    def close(self) -> None:
        if self._callbacks:
            self._end(None)
            if self._other and self._other._callbacks:
                self._other._end(DeviceFault("the other end was closed", where=self._other.label))

    def _receive(self, opened_as: Callbacks, data: bytes) -> None:
        if self._callbacks is opened_as:  # neither closed nor reopened meanwhile
            opened_as[0](data)

    def _end(self, why: Exception | None) -> None:
        if self._callbacks:
            on_closed = self._callbacks[1]
            self._callbacks = None
            on_closed(why)


def pair(label: str = "loopback://") -> tuple[LoopbackEnd, LoopbackEnd]:
    """Return the two ends of a cable, not yet open."""
    first, second = LoopbackEnd(label), LoopbackEnd(label)
    first.join(second)
    return first, second


def make(uri: Uri, context: TransportContext) -> LoopbackEnd:
    """Return a new end of a cable; every second call with one name returns that cable's other end.

    Raises errors.UsageFault.
    """
    uri.refuse_others()
    if not uri.authority or uri.path:
        raise uri.fault("no name", "loopback://NAME", uri.text)
    if uri.authority in _second_ends:
        return _second_ends.pop(uri.authority)
    first, _second_ends[uri.authority] = pair(uri.text)
    return first
