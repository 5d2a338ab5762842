"""A recorded log as the station shows it: the same pictures that its cars gave then, by time."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator
from pathlib import Path

from host_bridge.cars.car import Car
from host_bridge.domain import Vehicle
from host_bridge.errors import DataFileFault, TandemError
from host_bridge.interfaces.station import PageSeat, picture
from host_bridge.link.connection import Connection
from host_bridge.link.wire import own_protocol_hash
from host_bridge.logbook import reading
from host_bridge.services import Vehicles

_EVERY_US = 50_000  # 20 Hz, as live
_SERIES = ("speed_mps", "target_mps", "steer_deg", "battery_v")
Row = dict[str, object]


class LogYard:
    """A ``station.Yard`` of a log: everything is shown as of ``seek``, or plays; nothing moves."""

    def __init__(self, path: Path, vehicles: Vehicles, now_us: Callable[[], int]) -> None:
        """Raises errors.DataFileFault."""
        self._frames = list(_pictures(path, vehicles))
        if not self._frames:
            raise DataFileFault(
                "nothing in this log came from a car",
                where=str(path),
                expected="what tandem record -o FILE wrote of a car that was heard",
            )
        self._times_s = [time_s for time_s, _ in self._frames]
        self._now_us = now_us
        self._at_s = 0.0
        self._since_us: int | None = None  # since when it plays, from there

    def now_us(self) -> int:
        return self._now_us()

    def at_s(self) -> float:
        """What is shown, in seconds since the log's first."""
        played_s = 0.0 if self._since_us is None else (self._now_us() - self._since_us) * 1e-6
        return min(self._at_s + played_s, self._times_s[-1])

    def seek(self, time_s: float, plays: bool) -> None:
        self._at_s = min(max(time_s, 0.0), self._times_s[-1])
        self._since_us = self._now_us() if plays else None

    def pictures(self) -> list[Row]:
        index = max(bisect_right(self._times_s, self.at_s()) - 1, 0)
        return self._frames[index][1]

    def replayed(self) -> Row:
        """For the slider: where it is, how long it is, whether it plays."""
        plays = self._since_us is not None and self.at_s() < self._times_s[-1]
        return {"at_s": round(self.at_s(), 2), "of_s": self._times_s[-1], "plays": plays}

    def timeline(self) -> Row:
        """Each car's numbers over the whole log."""
        names = sorted({str(car["name"]) for _, cars in self._frames for car in cars})
        return {"t_s": self._times_s, "cars": {name: self._of(name) for name in names}}

    def _of(self, name: str) -> Row:
        rows = [next((it for it in cars if it["name"] == name), {}) for _, cars in self._frames]
        series: Row = {key: [row.get(key) for row in rows] for key in _SERIES}
        return {**series, "pose": [row.get("pose") for row in rows]}

    async def stop(self, names: tuple[str, ...], tell: Callable[[Row], None]) -> None:
        raise DataFileFault("this is a log: what it shows was driven then")

    def begin(self, name: str, seat: PageSeat, ended: Callable[[str], None]) -> None:
        ended("this is a log: nothing in it can be driven")


def _pictures(path: Path, vehicles: Vehicles) -> Iterator[tuple[float, list[Row]]]:
    """Twenty times a second what all cars looked like, by the bytes that came from them."""
    cars: dict[str, tuple[Car, int]] = {}
    facts = reading.facts(path)
    first_us: int | None = None
    due_us = 0
    for record in reading.read(path):
        if record.topic != "down" or not isinstance(record.value, bytes):
            continue
        now_us = record.time_us
        first_us = now_us if first_us is None else first_us
        if record.car not in cars:
            vehicle = _vehicle(facts.get(f"car/{record.car}", {}), vehicles)
            car = Car(record.car, Connection(own_protocol_hash(), None), vehicle)
            car.opened(now_us)
            cars[record.car] = car, now_us
        car, _ = cars[record.car]
        car.receive_data(record.value, now_us)
        cars[record.car] = car, now_us
        if now_us >= due_us:
            due_us = now_us + _EVERY_US
            seen = (cars[name] for name in sorted(cars))
            rows = [picture(it, heard, now_us, "silent") for it, heard in seen]
            yield (now_us - first_us) * 1e-6, rows


def _vehicle(facts: dict[str, str], vehicles: Vehicles) -> Vehicle | None:
    try:
        return vehicles.load(facts["vehicle"]) if facts.get("vehicle") else None
    except TandemError:
        return None  # a file of somebody else's: numbers without names
