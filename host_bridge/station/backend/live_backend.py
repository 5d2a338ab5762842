"""The station's backend for the cars served on this machine: shows, stops and drives them."""

from __future__ import annotations

import asyncio
import datetime
import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial

from host_bridge import drive as driving
from host_bridge.core import Profile
from host_bridge.core.errors import DeviceFault, TandemError, UsageFault
from host_bridge.core.same_car import KnownCar
from host_bridge.drive import DriveOptions
from host_bridge.link.protocol.events import LinkEvent
from host_bridge.sharing.connecting import is_lossless
from host_bridge.sharing.endpoints.served import ServedCar
from host_bridge.sharing.open_car import OpenCar
from host_bridge.sharing.owner.car_place import place_of
from host_bridge.sharing.owner.kept_stops import KeptStops
from host_bridge.sharing.services import Host
from host_bridge.sharing.stop.stop_request import StopCall, stop_served
from host_bridge.sharing.stop.stop_sockets import StopSocket, find_stop_sockets
from host_bridge.station import CarComparison, PageSeat, TelemetryView
from host_bridge.station.backend.camera_process import CameraProcess
from host_bridge.station.backend.page_drive_view import PageDriveView
from host_bridge.station.backend.page_requests import PageRequests
from host_bridge.station.backend.programs import Recording
from host_bridge.station.backend.red_flag import RedFlag
from host_bridge.station.backend.slow_zone import SlowZone
from host_bridge.station.backend.stand import seat_limits
from host_bridge.station.backend.started_twins import StartedTwins
from host_bridge.station.backend.stop_rounds import FleetRounds, StopRounds, Tell
from host_bridge.station.backend.stop_tables import StopTables
from host_bridge.station.backend.watched_car import WatchedCar, stop_rows
from host_bridge.station.views.foxglove_server import FoxgloveServer
from host_bridge.station.views.known_cars import CarNumbers, GoneCars

_LOGGER = logging.getLogger(__name__)
_TO_TENTHS, _TO_SECONDS = 10, 8  # the length of 14:03:22.4, and of 14:03:22
POLL_S = 0.5  # how often new cars are looked for


class LiveBackend:
    """The ``StationBackend`` of the cars that are served on this machine."""

    def __init__(
        self,
        host: Host,
        speed_mps: float,
        recording: Recording,
        camera: CameraProcess | None,
        local_now: Callable[[], datetime.datetime],
        programs: Mapping[str, str],
    ) -> None:
        """``programs``: the inputs that pages may start, by the name that pages show."""
        self._host = host
        self._programs = programs
        self._speed_mps = speed_mps
        self._red_flag = RedFlag(self._open_apart, self.now_us)
        self._comparison = CarComparison()
        self._recording = recording
        self._camera = camera
        self._local_now = local_now
        self._twins = StartedTwins()
        self._slow_zone = SlowZone()
        self._stop_tables = StopTables()
        self._kept_stops = KeptStops()
        # A page's own have threads of their own, and none of them waits for what others ask for
        self._rounds = {is_page: StopRounds(_stop) for is_page in (True, False)}
        self._cars: dict[str, WatchedCar] = {}
        self._requests = PageRequests(
            host,
            self._cars,
            recording,
            self._twins,
            self._red_flag,
            self._stop_tables,
            self._kept_stops,
        )
        self._numbers = CarNumbers()
        self._gone = GoneCars()
        self._drives: set[asyncio.Task[None]] = set()
        self.foxglove: FoxgloveServer | None = None  # gets every event of the cars
        self.fleet: FleetRounds | None = None  # is stopped too, on other machines, with every car

    def now_us(self) -> int:
        return self._host.cars.clock.now_us()

    def _local_time(self, at_us: int) -> str:
        """Return a time of the host's clock as local time of day, to tenths of a second."""
        ago_s = (self.now_us() - at_us) * 1e-6
        return f"{self._local_now() - datetime.timedelta(seconds=ago_s):%H:%M:%S.%f}"[:_TO_TENTHS]

    async def follow_served_cars(self) -> None:
        """Open cars that are newly served, and close those that are no longer, until cancelled."""
        while True:
            with suppress(DeviceFault):
                await self._follow({car.name: car for car in self._host.cars.served()})
                await self._red_flag.follow(self._cars)
            await asyncio.sleep(POLL_S)

    async def _follow(self, served: dict[str, ServedCar]) -> None:
        for name, watched in list(self._cars.items()):
            if name not in served or served[name].pid != watched.pid:
                del self._cars[name]
                self._bury(watched)
                self._comparison.drop(name)
                await watched.close()
        for name, owned in served.items():
            if name not in self._cars:
                with suppress(TandemError):
                    opened = await self._host.cars.open(name)
                    opened.car.is_line_lossy |= not is_lossless(owned.uri)
                    view = TelemetryView(
                        opened.car, self._comparison.add(opened.car), self._local_time
                    )
                    stops = self._kept_stops.of(name, opened.identity.board_id.hex())
                    self._cars[name] = WatchedCar(opened, owned.pid, view, self.now_us, stops)
                    await self._cars[name].listen()
                    self._gone.drop(name)
                    if self.foxglove:
                        vehicle = opened.car.vehicle
                        self.foxglove.add_car(name, vehicle, *place_of(owned.uri, vehicle))
                        opened.events.subscribe(partial(_tell, self.foxglove, name))

    async def _open_apart(self, name: str) -> OpenCar:
        """Open a car with a session of its own. Raises errors.TandemError."""
        return await self._host.cars.open(name, epoch=self._host.cars.new_epoch())

    async def raise_flag(self, by: str) -> None:
        """Stop all cars, and keep them from being armed until the flag is lifted."""
        self._red_flag.raise_by(by)
        with suppress(TandemError):  # nobody is served
            await self.stop((), lambda row: None, is_page=True)
        await self._red_flag.follow(self._cars)

    async def lower_caps(self, by: str) -> None:
        """Lower the cap of every car that is faster than a marshal runs."""
        await self._slow_zone.lower(by, self._caps_mps())

    def _caps_mps(self) -> dict[str, float | None]:
        outputs = {name: it.opened.car.outputs for name, it in self._cars.items()}
        return {name: it.cap_mps if it else None for name, it in outputs.items()}

    def _bury(self, watched: WatchedCar) -> None:
        """Keep a car that is served no longer as it was."""
        now_us = self.now_us()
        heard_us = watched.heard_us
        heard_at = self._local_time(heard_us)[:_TO_SECONDS] if heard_us is not None else ""
        self._gone.add(watched.car_row(now_us), now_us, heard_at)

    def car_rows(self) -> list[dict[str, object]]:
        now_us = self.now_us()
        rows = [it.car_row(now_us) for it in self._cars.values()] + self._gone.rows(now_us)
        for row in rows:
            row["number"] = self._numbers.of(str(row["name"]), str(row["board"]))
        return sorted(rows, key=lambda row: (row["number"], row["name"]))

    def extras(self) -> dict[str, object]:
        self._comparison.step()
        return {
            "together": self._comparison.rows(),
            "twins": self._twins.words,
            "progress": self._requests.progress,
            "flag": self._red_flag.row(),
            "slow": self._slow_zone.row(self._caps_mps()),
            "programs": list(self._programs),
            "recording": self._recording.row(),
            "camera": self._camera.row() if self._camera else None,
            "black_boxes": {
                name: stop_rows(stops, self._local_time)
                for name, stops in self._kept_stops.all().items()
            },
            "distances": {
                name: self._stop_tables.state(it.opened.car.vehicle)
                for name, it in self._cars.items()
            },
        }

    def distances(self, car: str) -> list[dict[str, object]]:
        watched = self._cars.get(car)
        return self._stop_tables.rows(watched.opened.car.vehicle) if watched else []

    async def handle_request(self, asked: dict[str, object]) -> dict[str, object]:
        return await self._requests.answer(asked)

    async def stop(
        self,
        names: tuple[str, ...],
        tell: Callable[[dict[str, object]], None],
        *,
        is_page: bool = False,
    ) -> None:
        """Stop these cars as ``tandem stop`` does, in a thread that waits for nothing here."""

        async def stop_here() -> set[str]:
            rounds = self._rounds[is_page]
            return await rounds.stop(names, lambda call: tell({**call.row(), "text": str(call)}))

        async def stop_elsewhere() -> bool:
            return await self.fleet.stop(tell) if self.fleet and not names else False

        found = await asyncio.gather(stop_here(), stop_elsewhere(), return_exceptions=True)
        told, is_there = found
        if isinstance(told, BaseException):
            raise told
        if isinstance(is_there, BaseException):
            raise is_there
        missing = set(names) - told
        if missing or not (told or is_there):
            raise not_served_fault(missing)

    def start_drive(
        self,
        names: Sequence[str],
        seat: PageSeat,
        ended: Callable[[str], None],
        boards: Mapping[str, str],
        program: str,
    ) -> dict[str, float]:
        for name in names:
            self._refuse_unknown(name, boards.get(name, ""))
        if program and program not in self._programs:
            raise UsageFault(
                "this station offers no such program",
                expected=", ".join(self._programs),
                got=program,
                remedy="tandem station --program NAME:REST",
            )
        profile = Profile.STAND if seat.is_on_stand else None
        vehicles = [self._cars[it].opened.car.vehicle for it in names if it in self._cars]
        known = [it for it in vehicles if it is not None]
        limits = {}
        if known:
            limits = seat_limits(known, self._speed_mps, "stand" if seat.is_on_stand else "")
        options = DriveOptions(
            tuple(names),
            input=self._programs[program] if program else seat,
            hand=seat if program else None,
            speed_mps=limits.get("speed_mps", 0.0) if seat.is_on_stand else self._speed_mps,
            profile=profile,
            is_json=False,
            is_unarmed=True,
            is_afar=seat.is_afar,
            arm_clears=False,
        )
        task = asyncio.create_task(self._drive(options, ended))
        self._drives.add(task)
        task.add_done_callback(self._drives.discard)
        return limits

    def _refuse_unknown(self, name: str, board: str) -> None:
        """Raises errors.DeviceFault where a page knew this car by another board."""
        watched = self._cars.get(name)
        if watched and board:
            if watched.pid not in [it.pid for it in self._host.cars.served() if it.name == name]:
                raise DeviceFault(f"{name} is served anew", remedy="look at it, and press again")
            _refuse_another(board, watched.opened.car.as_known_car())

    async def _drive(self, options: DriveOptions, ended: Callable[[str], None]) -> None:
        why = "The drive has ended."
        try:
            await driving.drive(options, PageDriveView(), self._host)
        except TandemError as fault:
            why = str(fault)
        except Exception:  # a program's fault, or ours: else the page had a seat that nothing hears
            _LOGGER.exception("a drive from the page failed")
            why = "The drive failed, and has ended: the terminal of tandem station says where."
        ended(why)

    def timeline(self) -> dict[str, object] | None:
        return None

    def replay_position(self) -> dict[str, object] | None:
        return None

    def seek(self, time_s: float, plays: bool) -> None:
        """Do nothing: live cars are shown as they are."""

    async def close(self) -> None:
        for task in list(self._drives):
            task.cancel()
        await asyncio.gather(*self._drives, return_exceptions=True)
        self._red_flag.lift()
        await self._red_flag.follow(())
        for watched in self._cars.values():
            await watched.close()
        await self._recording.close()
        await self._twins.close()
        await self._stop_tables.close()
        for rounds in self._rounds.values():
            rounds.close()
        if self.fleet:
            self.fleet.close()
        if self.foxglove:
            self.foxglove.close()


def not_served_fault(names: set[str]) -> DeviceFault:
    """Return the fault for cars that nobody serves, so that none was asked; without names, for all.

    A car that is served and does not answer is another matter: its own ``StopCall`` says that.
    """
    if not names:
        return DeviceFault(
            "no car is served on this machine, so none was asked to stop",
            remedy="if a car drives nevertheless: its runstop, or cut its power",
        )
    return DeviceFault(
        f"{' and '.join(sorted(names))}: not served on this machine, so not asked to stop",
        got="no stop socket of that name: its program has ended, or the car has another name now",
        remedy="if it drives nevertheless: its runstop, or cut its power",
    )


def _refuse_another(board: str, seen: KnownCar) -> None:
    """Raises errors.DeviceFault where a page knew this car by another board: then it is another."""
    if seen.board_id and board != seen.board_id.hex():
        raise DeviceFault(
            f"{seen.name} is on another board than this page began with, so it is another car",
            expected=f"board {board}",
            got=str(seen),
            remedy="if this one is meant, say so on the page; else serve the other one again",
        )


def _tell(foxglove: FoxgloveServer, name: str, events: list[LinkEvent]) -> None:
    for event in events:
        foxglove.publish(name, event)


def stop_cars(names: tuple[str, ...]) -> list[dict[str, object]]:
    """Stop the cars for Foxglove's service; return each car's own answer."""
    return [{**call.row(), "text": str(call)} for call in _stop(names)]


def _stop(
    names: tuple[str, ...],
    tell: Tell = lambda call: None,
    looked: Callable[[list[str]], object] = lambda found: None,
) -> list[StopCall]:
    """Stop these cars, or all; ``looked`` gets the name of each, once all were looked for."""
    return stop_served(_meant(names, looked), tell=tell)


def _meant(
    names: tuple[str, ...], looked: Callable[[list[str]], object]
) -> Iterator[StopSocket | None]:
    asked = []
    for it in find_stop_sockets():
        if it and names and it.name not in names:
            it.close()
            continue
        if it:
            asked.append(it.name)
        yield it
    looked(asked)
