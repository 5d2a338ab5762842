"""The station's backend for a recorded log: the same pictures that its cars gave live, by time."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from host_bridge.cars.car import ConnectedCar
from host_bridge.cars.car_text import why_apart
from host_bridge.config.store import Vehicles
from host_bridge.core import Vehicle
from host_bridge.core.errors import DataFileFault, TandemError
from host_bridge.link.protocol.connection import Connection
from host_bridge.link.protocol.wire import own_protocol_hash
from host_bridge.logs import reading
from host_bridge.sharing.connecting import is_lossless
from host_bridge.station import CarComparison, PageSeat, TelemetryView
from host_bridge.station.views.signals import SIGNALS

_EVERY_US = 50_000  # 20 Hz, as live
_SERIES = ("pose", "lidar_ahead_m", *(it.key for it in SIGNALS))
Row = dict[str, object]


class ReplayFrame(NamedTuple):
    """The page's content at a moment, in seconds since the log's first byte."""

    time_s: float
    cars: list[Row]
    together: list[Row]


class ReplayBackend:
    """The ``StationBackend`` of a log: shows the moment of ``seek``, or plays on from it.

    Nothing can be driven, stopped or changed.
    """

    def __init__(self, path: Path, vehicles: Vehicles, now_us: Callable[[], int]) -> None:
        """Read the whole log.

        Raises errors.DataFileFault.
        """
        self._path = path
        self._frames = list(_frames(path, vehicles))
        if not self._frames:
            raise DataFileFault(
                "nothing in this log came from a car",
                where=str(path),
                expected="what tandem record -o FILE wrote of a car that was heard",
            )
        self._apart = {car for frame in self._frames for car in _apart(frame)}
        self._times_s = [frame.time_s for frame in self._frames]
        self._now_us = now_us
        self._at_s = 0.0
        self._since_us: int | None = None  # when it began to play from _at_s; None: it is paused

    def now_us(self) -> int:
        return self._now_us()

    def at_s(self) -> float:
        """Return the shown time, in seconds since the log's first byte."""
        played_s = 0.0 if self._since_us is None else (self._now_us() - self._since_us) * 1e-6
        return min(self._at_s + played_s, self._times_s[-1])

    def seek(self, time_s: float, plays: bool) -> None:
        self._at_s = min(max(time_s, 0.0), self._times_s[-1])
        self._since_us = self._now_us() if plays else None

    def car_rows(self) -> list[Row]:
        return self._shown().cars

    def extras(self) -> Row:
        """Return the comparisons of the cars that were driven together.

        Those that came apart anywhere in the log have the command that tells the cause.
        """
        rows = self._shown().together
        return {"together": [{**it, "why_apart": self._why_apart(str(it["car"]))} for it in rows]}

    def _why_apart(self, car: str) -> str:
        return why_apart(self._path, car) if car in self._apart else ""

    def distances(self, car: str) -> list[Row]:
        return []

    async def handle_request(self, asked: Row) -> Row:
        return {"is_done": False, "text": "this is a log: nothing in it can be changed"}

    def _shown(self) -> ReplayFrame:
        return self._frames[max(bisect_right(self._times_s, self.at_s()) - 1, 0)]

    def replay_position(self) -> Row:
        """Return the slider's state: its file, its time and length in s, and whether it plays."""
        plays = self._since_us is not None and self.at_s() < self._times_s[-1]
        at_s, of_s = round(self.at_s(), 2), self._times_s[-1]
        return {"file": self._path.name, "at_s": at_s, "of_s": of_s, "plays": plays}

    def timeline(self) -> Row:
        """Return each car's series over the whole log."""
        names = sorted({str(car["name"]) for frame in self._frames for car in frame.cars})
        cars = {name: self._of(name) for name in names}
        together = [frame.together for frame in self._frames]
        return {"t_s": self._times_s, "cars": cars, "together": together}

    def _of(self, name: str) -> Row:
        rows = [next((it for it in f.cars if it["name"] == name), {}) for f in self._frames]
        numbers = [_numbers(row) for row in rows]
        return {key: [row.get(key) for row in numbers] for key in _SERIES}

    async def stop(
        self, names: tuple[str, ...], tell: Callable[[Row], None], *, is_page: bool = False
    ) -> None:
        raise DataFileFault("this is a log: what it shows was driven then")

    async def raise_flag(self, by: str) -> None:
        """Do nothing: what the log shows was driven then."""

    async def lower_caps(self, by: str) -> None:
        """Do nothing: what the log shows was driven then."""

    def start_drive(
        self,
        names: Sequence[str],
        seat: PageSeat,
        ended: Callable[[str], None],
        boards: Mapping[str, str],
        program: str,
    ) -> dict[str, float]:
        ended("this is a log: nothing in it can be driven")
        return {}


class LoggedCars:
    """The log's cars, decoded from their bytes, each with its view from its first byte on."""

    def __init__(self, path: Path, vehicles: Vehicles) -> None:
        self.comparison = CarComparison()
        self._vehicles = vehicles
        self._cars = reading.cars_in(reading.facts(path))
        self._telemetry_views: dict[str, TelemetryView] = {}
        self._first_us: int | None = None
        for name in self._cars:
            self._add(name)

    def hear(self, name: str, data: bytes, now_us: int) -> None:
        """Feed the bytes that came from a car."""
        self._first_us = now_us if self._first_us is None else self._first_us
        view = self._telemetry_views.get(name) or self._add(name)
        if view.heard_us is None:
            view.car.opened(now_us)
        view.hear(view.car.receive_data(data, now_us), now_us)
        identity, uri = view.car.identity, self._cars.get(name, {}).get("uri", "")
        view.car.is_line_lossy = not (identity and identity.is_virtual and is_lossless(uri))

    def _add(self, name: str) -> TelemetryView:
        vehicle = _vehicle(self._cars.get(name, {}), self._vehicles)
        car = ConnectedCar(name, Connection(own_protocol_hash(), None, is_past=True), vehicle)
        self._telemetry_views[name] = TelemetryView(car, self.comparison.add(car), self._words)
        return self._telemetry_views[name]

    def _words(self, at_us: int) -> str:
        """Return a time of the log in s, as the slider has it."""
        return f"{(at_us - (self._first_us or 0)) * 1e-6:.2f} s"

    def frame(self, time_s: float, now_us: int) -> ReplayFrame:
        """Return the frame of all cars at this moment."""
        self.comparison.step()
        cars = [
            {**self._telemetry_views[it].car_row(now_us, "silent"), "number": number}
            for number, it in enumerate(sorted(self._telemetry_views), 1)
        ]
        return ReplayFrame(time_s, cars, self.comparison.rows())


def _apart(frame: ReplayFrame) -> Iterator[str]:
    """Yield the cars that differ from their twins at this moment."""
    for pair in frame.together:
        differences = pair["differences"]
        if isinstance(differences, list) and any(it["differs"] for it in differences):
            yield str(pair["car"])


def _numbers(row: Row) -> Row:
    """Return a car's row with its signals beside its other values."""
    signals = row.get("signals")
    return {**row, **signals} if isinstance(signals, dict) else row


def _frames(path: Path, vehicles: Vehicles) -> Iterator[ReplayFrame]:
    """Yield frames at 20 Hz from the bytes that came from cars."""
    logged_cars = LoggedCars(path, vehicles)
    first_us: int | None = None
    due_us = 0
    for record in reading.read(path):
        if record.topic != "down" or not isinstance(record.value, bytes):
            continue
        now_us = record.time_us
        first_us = now_us if first_us is None else first_us
        logged_cars.hear(record.car, record.value, now_us)
        if now_us >= due_us:
            due_us = now_us + _EVERY_US
            yield logged_cars.frame((now_us - first_us) * 1e-6, now_us)


def _vehicle(facts: dict[str, str], vehicles: Vehicles) -> Vehicle | None:
    try:
        return vehicles.load(facts["vehicle"]) if facts.get("vehicle") else None
    except TandemError:
        return None  # the vehicle file is not here: numbers are shown without names
