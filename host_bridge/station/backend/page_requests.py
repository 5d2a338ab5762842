"""Answers the seat's page on what is neither driving nor stopping, by one table.

Requests are a recording and its marks, the log of a stop, a twin, lifting the red flag, stopping
distances, and on the stand trim and configuration.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from typing import Any

from host_bridge.core.errors import TandemError
from host_bridge.sharing.owner.kept_stops import KeptStops, save_stop
from host_bridge.sharing.services import Host
from host_bridge.station.backend.programs import Recording
from host_bridge.station.backend.red_flag import RedFlag
from host_bridge.station.backend.stand import adjust
from host_bridge.station.backend.started_twins import StartedTwins, twin_uri_of
from host_bridge.station.backend.stop_tables import StopTables
from host_bridge.station.backend.watched_car import WatchedCar

Row = dict[str, object]


class PageRequests:
    """Does what a page asks for; ``cars`` are those that are served now, by name."""

    def __init__(
        self,
        host: Host,
        cars: Mapping[str, WatchedCar],
        recording: Recording,
        twins: StartedTwins,
        red_flag: RedFlag,
        stop_tables: StopTables,
        kept_stops: KeptStops,
    ) -> None:
        self._host = host
        self._cars = cars
        self._recording = recording
        self._twins = twins
        self._red_flag = red_flag
        self._stop_tables = stop_tables
        self._kept_stops = kept_stops
        self.progress = ""  # of trim or configuration, in words
        self._answers: dict[str, Callable[[Row], Awaitable[str]]] = {
            "record": self._record,
            "end recording": self._end_recording,
            "mark": self._mark,
            "save stop": self._save_stop,
            "lift flag": self._lift_flag,
            "distances": self._compute_distances,
        }

    async def answer(self, asked: Row) -> Row:
        """Do it; return the answer, which names the request."""
        what = str(asked.get("do"))
        ask = self._answers.get(what)
        if ask is not None:
            why = await ask(asked)
            return {"of": what, "is_done": not why, "text": why}
        if what == "twin":
            return {"of": what, **await self._start_twin(str(asked.get("car")))}
        if asked.get("car") in self._cars:
            return await self._adjust(asked)
        why = (
            f"{asked['car']} is not served" if asked.get("car") else f"nothing is known of {what!r}"
        )
        return {"of": what, "is_done": False, "text": why}

    async def _adjust(self, asked: Row) -> Row:
        def tell(words: str) -> None:
            self.progress = f"{asked['car']}: {words}"

        try:
            return await adjust(asked, tell)
        finally:
            self.progress = ""

    async def _record(self, asked: Row) -> str:
        self._recording.start(sorted(self._cars))
        return ""

    async def _end_recording(self, asked: Row) -> str:
        self._recording.end()
        return ""

    async def _mark(self, asked: Row) -> str:
        is_set = self._recording.mark(str(asked.get("text") or ""))
        return "" if is_set else "nothing is recorded"

    async def _save_stop(self, asked: Row) -> str:
        car = str(asked.get("car"))
        stop = self._kept_stops.at(car, asked.get("at_us"))
        if stop is None:
            return "this stop is kept no longer"
        clock = self._host.cars.clock
        ago_s = (clock.now_us() - stop.at_us) * 1e-6
        path = self._recording.new_path(f"{car}-stopped", ago_s)
        try:
            await save_stop(stop, car, path, clock)
        except TandemError as fault:
            return str(fault)
        return ""

    async def _lift_flag(self, asked: Row) -> str:
        self._red_flag.lift()
        await self._red_flag.follow(self._cars)
        return ""

    async def _compute_distances(self, asked: Row) -> str:
        watched = self._cars.get(str(asked.get("car")))
        if watched and watched.opened.car.vehicle:
            self._stop_tables.start(watched.opened.car.vehicle)
        return ""

    async def _start_twin(self, name: str) -> dict[str, Any]:
        """Start a virtual car of the same vehicle file beside this one."""
        watched = self._cars.get(name)
        vehicle = watched.opened.car.vehicle if watched else None
        if watched is None or vehicle is None:
            return {"is_done": False, "text": f"the vehicle of {name} is not known"}
        place = vehicle.path
        with suppress(TandemError):
            if self._host.vehicles.load(vehicle.name).path == vehicle.path:
                place = vehicle.name
        calibration = "" if watched.opened.is_virtual else vehicle.calibration
        twin, uri = twin_uri_of(name, place, calibration, set(self._cars))
        why = await self._twins.start(uri)
        return {"is_done": not why, "text": why, "name": twin}
