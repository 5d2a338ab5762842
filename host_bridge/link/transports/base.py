"""The interface between Tandem and any line to a car: bytes out, bytes in, nothing else.

A transport knows neither frames nor messages. It may drop what it cannot send, but never delay it:
a claim that waited is worthless.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

OnBytes = Callable[[bytes], None]
OnClosed = Callable[[Exception | None], None]


class Transport(Protocol):
    """One line to one car. It is used from one event loop; a closed one may be opened again."""

    @property
    def label(self) -> str:
        """The name for people, such as ``serial:///dev/ttyACM0``."""

    @property
    def is_virtual(self) -> bool:
        """True if nothing exists behind it until it is opened, so that there is no car to stop.

        Once a car is identified, its Identity says whether it is virtual.
        """

    @property
    def vehicle(self) -> str | None:
        """The type of car, by name or path of its vehicle file; None if it cannot tell."""

    async def open(self, on_bytes: OnBytes, on_closed: OnClosed) -> None:
        """Open the line. Raises errors.TandemError if that fails or if it is open already.

        From then on ``on_bytes`` gets what arrives, in pieces of any size. ``on_closed`` is called
        exactly once: with None from within ``close()``, with the error if the far end went away.
        After that nothing is called any more.
        """

    def send(self, data: bytes) -> int:
        """Send all of ``data`` or none of it, without blocking; return how many bytes were taken.

        Pass whole frames, so that whole frames are dropped. A transport that is not open takes
        nothing.
        """

    def close(self) -> None:
        """Close the line and drop what has not gone out yet. Closing a closed one does nothing."""


@dataclass(frozen=True)
class TransportContext:
    """The context that the maker of a transport gets.

    ``now_us`` returns monotonic microseconds, ``vehicle`` loads a type of vehicle by name and with
    changes of its file, ``transport`` makes the transport of another URI, not yet open.
    """

    now_us: Callable[[], int]
    vehicle: Callable[..., object]
    transport: Callable[[str], Transport]
