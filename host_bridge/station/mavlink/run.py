"""The course of ``tandem mavlink``: opens the car and the socket, and keeps the gateway's ticks."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from pathlib import Path

from host_bridge.cars.fleet import Fleet
from host_bridge.core.errors import DeviceFault, TandemError
from host_bridge.core.system.printable import printable
from host_bridge.drive import DriveOptions
from host_bridge.drive.control_task import next_tick_us
from host_bridge.drive.controls import DriveContext
from host_bridge.drive.opening import start_log
from host_bridge.logs.recorder import Recorder
from host_bridge.sharing.endpoints.attached import Attached, tell_attached, withdraw_attached
from host_bridge.sharing.network.guests import MAVLINK, GuestBook
from host_bridge.sharing.open_car import OpenCar
from host_bridge.sharing.services import Host
from host_bridge.sharing.services.parameter_dialogue import Progress
from host_bridge.station.mavlink.driving.driver import Driver, program_seat
from host_bridge.station.mavlink.driving.hand import SOURCE
from host_bridge.station.mavlink.endpoint import UdpEndpoint, bind_address
from host_bridge.station.mavlink.gateway import Gateway
from host_bridge.station.mavlink.keys import StationKeys
from host_bridge.station.mavlink.messages.dialect import HeardMessage
from host_bridge.station.mavlink.messages.statustext import INFO, WARNING
from host_bridge.station.mavlink.speaker import GatewaySettings, Outside
from host_bridge.station.mavlink.stations import Address, Station

_LOG_TOPIC = "mavlink"
_ROWS_EVERY = 50  # ticks: twice a second
_COUNTS_EVERY = 6_000  # ticks: once a minute, as the program that lets guests in over the network


@dataclass(frozen=True)
class Options:
    """The options of the command line. ``settings.is_virtual`` is the car's own word, set here."""

    car: str | None
    settings: GatewaySettings
    listen: Address | None = None
    deadman: int | None = None
    speed_mps: float | None = None
    is_watch_only: bool = False
    record: Path | None = None
    seconds: float | None = None
    vehicle: str | None = None  # the type of a car that does not report one


Tell = Callable[[str, str], None]  # the car's name, a sentence
TellRows = Callable[[str, list[Attached]], None]


async def serve(options: Options, host: Host, tell: Tell, tell_rows: TellRows) -> int:
    """Be the car for stations until the time is over or it is cancelled; return 0.

    Raises errors.TandemError.
    """
    async with AsyncExitStack() as logs, AsyncExitStack() as stack:  # logs are closed last
        epoch = None if options.is_watch_only else host.cars.new_epoch()
        opened = await host.cars.open(options.car, epoch=epoch, vehicle=options.vehicle)
        stack.push_async_callback(opened.close)
        book = GuestBook(opened.identity.board_id, way=MAVLINK)
        keys = StationKeys(book, host.cars.clock.now_us)
        address = bind_address(options.settings.to, options.listen, has_guests=bool(keys.all()))
        log = await start_log(options.record, host, [opened], logs)
        stack.callback(keys.count_time)
        serving = _Serving(options, host, opened, log, tell, keys)
        stack.callback(serving.endpoint.close)
        stack.callback(withdraw_attached, opened.name)
        bound = await serving.endpoint.open(address)
        serving.greet(bound)
        await serving.loop(tell_rows)
    if log and log.fault:
        raise log.fault
    return 0


class _Serving:
    """One run: the gateway of one car, its socket, its log."""

    def __init__(
        self,
        options: Options,
        host: Host,
        opened: OpenCar,
        log: Recorder | None,
        tell: Tell,
        keys: StationKeys,
    ) -> None:
        self._options = options
        self._host = host
        self._opened = opened
        self._log = log
        self._keys = keys
        self._clock = host.cars.clock
        self._tell_person = tell
        self._writing: asyncio.Task[None] | None = None
        self.endpoint = UdpEndpoint(self._hear)
        settings = replace(options.settings, is_virtual=opened.is_virtual)
        outside = Outside(
            self._clock.now_us,
            time.time_ns,
            self.endpoint.send,
            self._tell,
            self._log_frame,
            self._write,
        )
        self.gateway = Gateway(opened.car, settings, outside, self._driver(), keys)
        opened.events.subscribe(self.gateway.speaker.hear_car)

    def _hear(self, datagram: bytes, address: Address) -> None:
        self.gateway.hear(datagram, address)

    def _tell(self, text: str) -> None:
        self._tell_person(self._opened.name, text)

    def greet(self, bound: Address) -> None:
        to = self._options.settings.to
        told = f", tells {to[0]}:{to[1]}" if to else ""
        invited = ", ".join(printable(it.label) for it in self._keys.all()) or "nobody"
        self._tell(
            f"system {self._options.settings.system}, listens on {bound[0]}:{bound[1]}{told}; "
            f"invited: {invited}; Ctrl-C ends it"
        )

    async def loop(self, tell_rows: TellRows) -> None:
        """Tick on a fixed grid until the time is over.

        Raises errors.DeviceFault when the program that serves the car has ended.
        """
        clock, ticks = self._clock, 0
        attached: list[Attached] = []
        begun_us = tick_us = clock.now_us()
        end_us = begun_us + (self._options.seconds or 0.0) * 1e6
        while self._options.seconds is None or clock.now_us() < end_us:
            if self._opened.has_lost_owner():
                raise DeviceFault(
                    "the program that served the car has ended", where=self._opened.name
                )
            self.gateway.step()
            if self._log:
                self._log.step()
            if ticks % _ROWS_EVERY == 0 and self.gateway.attached() != attached:
                attached = self.gateway.attached()
                tell_attached(self._opened.name, attached)
                tell_rows(self._opened.name, attached)
            ticks += 1
            if ticks % _COUNTS_EVERY == 0:
                self._keys.count_time()
            tick_us, _ = next_tick_us(tick_us, clock.now_us())
            await asyncio.sleep((tick_us - clock.now_us()) * 1e-6)

    def _driver(self) -> Driver | None:
        """Return the driver; None with --watch-only, or for a car of no known vehicle."""
        opened, options = self._opened, self._options
        epoch = opened.car.connection.epoch
        if options.is_watch_only or epoch is None:
            return None
        context = DriveContext(
            DriveOptions((opened.name,), speed_mps=options.speed_mps),
            [opened.vehicle],
            self._clock.now_us,
            is_virtual=opened.is_virtual,
        )
        return Driver(
            opened.car,
            Fleet([opened.car], epoch, is_seat=False),
            context.source(SOURCE),
            context.limits(SOURCE),
            options.deadman,
            program_seat(opened.vehicle, context),
            is_virtual=opened.is_virtual,
        )

    def _log_frame(self, address: Address, what: HeardMessage | bytes) -> None:
        if self._log is None:
            return
        is_heard = isinstance(what, HeardMessage)
        row = {
            "from_station": is_heard,
            "address": f"{address[0]}:{address[1]}",
            "is_signed": isinstance(what, HeardMessage) and what.is_signed,
            "frame": (what.frame if isinstance(what, HeardMessage) else what).hex(),
        }
        self._log.message(self._opened.name, _LOG_TOPIC, row, self._clock.now_us())

    def _write(self, step_us: float, station: Station) -> None:
        """Begin to write the car's control period, under the rules of ``tandem config write``."""
        if self._writing is not None and not self._writing.done():
            self.gateway.speaker.say(WARNING, "A parameter is being written already.", station)
            return
        self._writing = asyncio.get_running_loop().create_task(self._adjust(step_us, station))

    async def _adjust(self, step_us: float, station: Station) -> None:
        configurations = self._host.configurations
        notice = (INFO, f"The control period is {step_us * 1e-6:g} s now.")
        try:
            vehicle, _ = await configurations.adjust(
                self._opened, {"step_s": step_us * 1e-6}, _no_progress
            )
            self._opened.assume_vehicle(vehicle)
        except TandemError as fault:
            notice = (WARNING, fault.what)
        self._tell(f"station {station} asked to write a parameter: {notice[1]}")
        self.gateway.tell_parameter(station)
        self.gateway.speaker.say(*notice, station)


def _no_progress(what: str) -> Progress:
    return lambda done, total: None
