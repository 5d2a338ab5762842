"""A page that shows every car of this machine, stops them, and drives one of them.

Open the address that it prints in a browser of this machine: from a phone's width to a wall's, it
is one page. The big Stop at its foot needs no login and asks nothing; it is shown as done only when
the car says so. The address has the seat: whoever opens it without the part behind # can watch and
stop, and not drive.

A hold of the page is a finger or the mouse on its pad, or SPACE. It lasts for as long as the
browser draws: a hidden, frozen, closed or offline page, a second finger or a turned screen end it.

examples:
  tandem serve --car sim://f1tenth     in another terminal, for a car to see
  tandem station
  tandem station --port 9000 --speed 0.5
  tandem station --watch-only          nobody drives from a page
  tandem station --foxglove            and Foxglove may connect to ws://127.0.0.1:8765
  tandem station --log drive.mcap      a recorded drive on the same page, with a time slider

It listens on 127.0.0.1 and nowhere else, and its pages load nothing from anywhere else.
exit codes: 3 the port is taken; 130 ended by Ctrl-C.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import re
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from importlib.util import find_spec
from pathlib import Path

from host_bridge import driving
from host_bridge.driving import Plan
from host_bridge.driving.drive import Drive
from host_bridge.errors import DeviceFault, TandemError
from host_bridge.interfaces.cli.station_log import LogYard
from host_bridge.interfaces.cli.typed import positive
from host_bridge.interfaces.station import PageSeat, Server, Yard, foxglove_server, picture
from host_bridge.interfaces.station.foxglove_server import FoxgloveServer
from host_bridge.interfaces.station.server import LOOPBACK
from host_bridge.link.events import LinkEvent
from host_bridge.open_car import OpenCar
from host_bridge.quick_stop import StopCall, stop_served
from host_bridge.running import run_async
from host_bridge.services import Host
from host_bridge.transports.stop_sockets import connected

PORT = 8090
_FOXGLOVE_PORT = 8765  # where Foxglove looks for one
_SPEED_MPS = 1.0  # of a hold that a browser has to prove; 0.12 m within the seat's lease
_R = re.compile("press R", re.IGNORECASE)
_LAYOUT = Path(foxglove_server.__file__).with_name("foxglove_layout.json")
_LOOK_S = 0.5  # how often is looked for cars that are new


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's own."""
    parser.add_argument("--port", type=int, default=PORT, help=f"default: {PORT}")
    parser.add_argument(
        "--speed",
        type=positive,
        default=_SPEED_MPS,
        metavar="M_PER_S",
        help=f"top speed of whoever drives from the page; default: {_SPEED_MPS:g}",
    )
    parser.add_argument("--watch-only", action="store_true", help="print no seat's address")
    parser.add_argument(
        "--log", type=Path, metavar="FILE.mcap", help="show what was recorded, with a time slider"
    )
    parser.add_argument(
        "--foxglove",
        type=int,
        nargs="?",
        const=_FOXGLOVE_PORT,
        metavar="PORT",
        help=f"Foxglove's server besides: it sees, and stops; default: {_FOXGLOVE_PORT}",
    )
    parser.add_argument(
        "--no-plots", action="store_true", help="without plots and map, which take a second program"
    )


def run(args: argparse.Namespace, host: Host) -> int:
    """Until Ctrl-C. Raises errors.TandemError."""
    return run_async(_run(args, host))


async def _run(args: argparse.Namespace, host: Host) -> int:
    if args.log:
        log = LogYard(args.log, host.vehicles, host.cars.clock.now_us)
        return await _serve(args, log, has_seat=False)
    yard = HostYard(host, args.speed)
    if args.foxglove:
        yard.foxglove = FoxgloveServer(args.foxglove, _stopped)
        print(f"Foxglove: ws://127.0.0.1:{args.foxglove}, layout {_LAYOUT}", file=sys.stderr)
    looking = asyncio.create_task(yard.look())
    try:
        return await _serve(args, yard, has_seat=not args.watch_only)
    finally:
        looking.cancel()
        await yard.close()


async def _serve(args: argparse.Namespace, yard: Yard, has_seat: bool) -> int:
    has_plots = not args.no_plots and find_spec("nicegui") is not None
    # another site than the page's, so that a browser gives it a process of its own
    server = Server(yard, args.port, f"http://localhost:{args.port + 1}/" if has_plots else "")
    plots: list[asyncio.Task[None]] = []

    def is_up() -> None:
        print(f"http://127.0.0.1:{args.port}/{'#seat=' * has_seat}", end="")
        print(server.doors.token if has_seat else "", flush=True)
        if has_plots:
            plots.append(asyncio.create_task(_plot(server)))
        elif not args.no_plots:
            print("without plots: pip install 'tandem-cars[station]'", flush=True)

    try:
        await server.run(is_up)
    finally:
        for task in plots:
            task.cancel()
        await asyncio.gather(*plots, return_exceptions=True)
    return 0


async def _plot(server: Server) -> None:
    """The plots' program, ended with this one; if it ends by itself, the rest goes on."""
    port = server.doors.port
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "host_bridge.interfaces.station.views"),
        *(f"127.0.0.1:{port}", str(port + 1)),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.DEVNULL,
        start_new_session=True,  # Ctrl-C is for the station, which then ends it
        # below pytest NiceGUI takes itself for what is tested
        env={name: text for name, text in os.environ.items() if name != "PYTEST_CURRENT_TEST"},
    )
    try:
        while process.returncode is None and not await _is_answered(port + 1):
            await asyncio.sleep(_LOOK_S)
        server.has_views = True
        code = await process.wait()
        server.has_views = False
        print(f"the plots' program ended ({code}); stop and seat go on", file=sys.stderr)
    finally:
        with suppress(ProcessLookupError):
            process.terminate()
        await process.wait()


async def _is_answered(port: int) -> bool:
    try:
        _, writer = await asyncio.open_connection(LOOPBACK, port)
    except OSError:
        return False
    writer.close()
    return True


class HostYard:
    """A ``station.Yard`` of the cars that are served on this machine."""

    def __init__(self, host: Host, speed_mps: float) -> None:
        self._host = host
        self._speed_mps = speed_mps
        self._cars: dict[str, Watched] = {}
        self._drives: set[asyncio.Task[None]] = set()
        self.foxglove: FoxgloveServer | None = None  # sees all that is heard

    def now_us(self) -> int:
        return self._host.cars.clock.now_us()

    async def look(self) -> None:
        """Opens what is served anew, closes what is no longer, until cancelled."""
        while True:
            with suppress(DeviceFault):
                await self._follow({car.name: car.pid for car in self._host.cars.served()})
            await asyncio.sleep(_LOOK_S)

    async def _follow(self, served: dict[str, int]) -> None:
        for name, watched in list(self._cars.items()):
            if served.get(name) != watched.pid:
                del self._cars[name]
                await watched.opened.close()
        for name, pid in served.items():
            if name not in self._cars:
                with suppress(TandemError):
                    opened = await self._host.cars.open(name)
                    self._cars[name] = Watched(opened, pid, self.now_us)
                    if self.foxglove:
                        self.foxglove.car(name)
                        opened.events.subscribe(partial(_tell, self.foxglove, name))

    def pictures(self) -> list[dict[str, object]]:
        return [it.picture(self.now_us()) for _, it in sorted(self._cars.items())]

    async def stop(self, names: tuple[str, ...], tell: Callable[[dict[str, object]], None]) -> None:
        """As ``tandem stop`` does, in a thread: it waits for nothing that is done here."""
        calls = await asyncio.to_thread(_stop, names)
        for call in calls:
            tell({**call.row(), "text": str(call)})
        missing = set(names) - {call.name for call in calls}
        if missing or not calls:
            raise DeviceFault(f"not served here: {', '.join(sorted(missing)) or 'any car'}")

    def begin(self, name: str, seat: PageSeat, ended: Callable[[str], None]) -> None:
        plan = Plan((name,), input=seat, speed_mps=self._speed_mps, is_json=False)
        task = asyncio.create_task(self._drive(plan, ended))
        self._drives.add(task)
        task.add_done_callback(self._drives.discard)

    async def _drive(self, plan: Plan, ended: Callable[[str], None]) -> None:
        why = "The drive has ended."
        try:
            await driving.drive(plan, PageView(), self._host)
        except TandemError as fault:
            why = str(fault)
        ended(why)

    def timeline(self) -> dict[str, object] | None:
        return None

    def replayed(self) -> dict[str, object] | None:
        return None

    def seek(self, time_s: float, plays: bool) -> None:
        """Cars that are there are shown as they are."""

    async def close(self) -> None:
        for task in list(self._drives):
            task.cancel()
        await asyncio.gather(*self._drives, return_exceptions=True)
        for watched in self._cars.values():
            await watched.opened.close()
        if self.foxglove:
            self.foxglove.close()


class Watched:
    """A car that is looked at, and when it was heard last."""

    def __init__(self, opened: OpenCar, pid: int, now_us: Callable[[], int]) -> None:
        self.opened = opened
        self.pid = pid
        self._now_us = now_us
        self._heard_us: int | None = None
        self._heard_unix_ms = 0  # for whoever measures how late a page shows it
        opened.events.subscribe(self._hear)

    def picture(self, now_us: int) -> dict[str, object]:
        row = picture(self.opened.car, self._heard_us, now_us, self.opened.why_unknown)
        return {**row, "heard_unix_ms": self._heard_unix_ms}

    def _hear(self, events: list[LinkEvent]) -> None:
        self._heard_us = self._now_us()
        self._heard_unix_ms = time.time_ns() // 1_000_000


class PageView:
    """What the page's driver is told of the drive."""

    def screen(self, drive: Drive, now_us: int, columns: int) -> list[str]:
        controls = drive.controls
        held = "held" if drive.wish.is_held else "released"
        trip_us = drive.fleet.cars[0].connection.statistics.round_trip_us(50)
        trip = f"round trip {trip_us * 1e-3:.1f} ms" if trip_us is not None else ""
        reach = f"{controls.reach.speed_mps:g} m/s at most"
        notice = _R.sub('press "Clear and arm"', drive.notice)  # a page has a button for it
        return [drive.phase.value, held, controls.hint(now_us), notice, trip, reach]

    def news(self, drive: Drive, now_us: int) -> list[str]:
        return []

    def summary(self, drive: Drive, now_us: int) -> Sequence[str]:
        return ()


def _tell(foxglove: FoxgloveServer, name: str, events: list[LinkEvent]) -> None:
    for event in events:
        foxglove.tell(name, event)


def _stopped(names: tuple[str, ...]) -> list[dict[str, object]]:
    """For Foxglove's service: each car's own answer."""
    return [{**call.row(), "text": str(call)} for call in _stop(names)]


def _stop(names: tuple[str, ...]) -> list[StopCall]:
    sockets = connected()
    chosen = [it for it in sockets if not names or it.name in names]
    for it in sockets:
        if it not in chosen:
            it.close()
    return stop_served(chosen)
