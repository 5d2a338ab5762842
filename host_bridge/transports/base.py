"""The seam between Tandem and the world: bytes out, bytes in, nothing else.

A transport knows neither frames nor messages. It may lose what it cannot send, never hold it up: a
claim that waited is worth nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

OnBytes = Callable[[bytes], None]
OnClosed = Callable[[Exception | None], None]


class Transport(Protocol):
    """One way to one car. Used from one event loop; closed ones may be opened again."""

    @property
    def label(self) -> str:
        """For people: ``serial:///dev/ttyACM0``."""

    @property
    def is_virtual(self) -> bool:
        """Whether there is nothing behind it but what opening it makes: no car to be stopped.

        Of a car that has been met, its Identity says whether it is virtual.
        """

    @property
    def vehicle(self) -> str | None:
        """The type of car, by the name or path of its vehicle file; None if it cannot tell."""

    async def open(self, on_bytes: OnBytes, on_closed: OnClosed) -> None:
        """Raises errors.TandemError if it cannot, or is open already.

        From then on ``on_bytes`` gets what arrives, cut anywhere. ``on_closed`` is called exactly
        once: with None from within ``close()``, with what happened if the far end went away. After
        it nothing is called any more.
        """

    def send(self, data: bytes) -> int:
        """Never blocks. Takes all of ``data`` or nothing; returns how many bytes it took.

        Hand in whole frames: then what is dropped is whole frames too. A transport that is not
        open takes nothing.
        """

    def close(self) -> None:
        """Drops what has not gone out yet. Closing a closed one does nothing."""


@dataclass(frozen=True)
class Making:
    """What the maker of a transport gets from whoever opens cars.

    ``now_us`` is monotonic microseconds, ``vehicle`` loads a type of vehicle by name and with
    changes of its file, ``transport`` makes the transport of another URI, not yet open.
    """

    now_us: Callable[[], int]
    vehicle: Callable[..., object]
    transport: Callable[[str], Transport]
