"""``replay://drive.mcap?car=nigel&speed=2``: a transport that plays a car's bytes from a log.

It sends the recorded bytes at their recorded times and ignores what is sent to it. So it can be
watched and compared with, not driven: its answers belong to the session that was recorded.
"""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from host_bridge.core.errors import DataFileFault, DeviceFault, UsageFault
from host_bridge.link.transports.base import OnBytes, OnClosed, TransportContext
from host_bridge.link.transports.uri import Uri
from host_bridge.logs.reading import Record, read
from host_bridge.logs.recorder import DOWN

# a step of 10 ms in a second; at the other end the program itself is slower
SLOWEST, FASTEST = 0.01, 1000.0


class Playback:
    """The schedule of the records, ``speed`` times as fast as they were recorded."""

    def __init__(self, records: Iterable[Record], start_us: int, speed: float) -> None:
        self._records: Iterator[Record] = iter(records)
        self._next = next(self._records, None)
        self._first_us = self._next.time_us if self._next else 0
        self._start_us = start_us
        self._speed = speed

    @property
    def next_us(self) -> int | None:
        """The time at which the next record is due; None after the last one."""
        if self._next is None:
            return None
        return self._start_us + round((self._next.time_us - self._first_us) / self._speed)

    def due(self, now_us: int) -> list[bytes]:
        """Return the bytes that are due by now, each record apart."""
        found = []
        while self._next is not None and (self.next_us or 0) <= now_us:
            if isinstance(self._next.value, bytes):
                found.append(self._next.value)
            self._next = next(self._records, None)
        return found


class ReplayTransport:
    """A transport (``transports.base.Transport``) out of a log.

    When opened again it begins anew.
    """

    is_virtual = True
    vehicle: str | None = None

    def __init__(
        self, label: str, path: Path, car: str, speed: float, now_us: Callable[[], int]
    ) -> None:
        self.label = label
        self._path = path
        self._car = car
        self._speed = speed
        self._now_us = now_us
        self._callbacks: tuple[OnBytes, OnClosed] | None = None
        self._playback: Playback | None = None
        self._timer: asyncio.Handle | None = None

    async def open(self, on_bytes: OnBytes, on_closed: OnClosed) -> None:
        """Begin to play the log from its first record.

        Raises errors.DataFileFault, and errors.UsageFault if it is open already.
        """
        if self._callbacks is not None:
            raise UsageFault("it is open already", where=self.label)
        records = sent_by_car(self._path, self._car)
        self._playback = Playback(records, self._now_us(), self._speed)
        self._callbacks = (on_bytes, on_closed)
        self._timer = asyncio.get_running_loop().call_soon(self._step)

    def send(self, data: bytes) -> int:
        """Accept and drop the data."""
        return len(data) if self._callbacks is not None else 0

    def close(self) -> None:
        self._end(None)

    def _step(self) -> None:
        for data in self._playback.due(self._now_us()) if self._playback else ():
            if self._callbacks is not None:  # on_bytes may have closed it
                self._callbacks[0](data)
        if self._playback is None:
            return
        next_us = self._playback.next_us
        if next_us is None:
            self._end(DeviceFault("the log has ended", where=self.label))
        else:
            in_s = max(next_us - self._now_us(), 0) * 1e-6
            self._timer = asyncio.get_running_loop().call_later(in_s, self._step)

    def _end(self, why: Exception | None) -> None:
        if self._timer is not None:
            self._timer.cancel()
        callbacks, self._callbacks, self._timer, self._playback = self._callbacks, None, None, None
        if callbacks is not None:
            callbacks[1](why)


def make(uri: Uri, context: TransportContext) -> ReplayTransport:
    """Return the transport of a ``replay://`` URI.

    Raises errors.UsageFault, errors.DataFileFault.
    """
    uri.refuse_others("car", "speed")
    path = Path(uri.place)
    speed = uri.number("speed", 1.0, SLOWEST, FASTEST)
    car = _car(uri, sorted(set(_speakers(path))))
    return ReplayTransport(uri.text, path, car, speed, context.now_us)


def sent_by_car(path: Path, car: str) -> Iterator[Record]:
    """Return what a car sent, in order. Raises errors.DataFileFault if there is nothing."""
    found = (record for record in read(path) if record.car == car and record.topic == DOWN)
    first = next(found, None)
    if first is None:
        raise DataFileFault("nothing of this car is in the log", where=str(path), got=car)
    return itertools.chain([first], found)


def _speakers(path: Path) -> Iterator[str]:
    return (record.car for record in read(path) if record.topic == DOWN)


def _car(uri: Uri, cars: list[str]) -> str:
    car = uri.query.get("car", cars[0] if len(cars) == 1 else "")
    if car not in cars:
        raise UsageFault(
            "which car of the log?",
            where=uri.text,
            expected="car=" + " or car=".join(cars) if cars else "a log with a car in it",
            got=car or "no car named",
        )
    return car
