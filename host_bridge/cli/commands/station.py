"""A page that shows every car of this machine, stops them, and drives one of them.

Open the address that it prints in a browser of this machine; the page fits every screen width. The
big Stop at its foot needs no login and asks nothing; it is shown as done only when the car says so.
The address has the permission to drive: without the part behind # the page can watch and stop, and
not drive.

The deadman is a finger or the mouse on the page's pad, or SPACE. It counts only while the browser
draws: a hidden, frozen, closed or offline page, a second finger or a turned screen release it.

examples:
  tandem serve --car sim://f1tenth     in another terminal, for a car to see
  tandem station
  tandem station --port 9000 --speed 0.5
  tandem station --program 'path:line.csv?laps=3'      the page offers it, as it does slalom
  tandem station --watch-only          nobody drives from a page
  tandem station --foxglove            and Foxglove may connect to ws://127.0.0.1:8765
  tandem station --camera /dev/video0  its picture beside the map
  tandem station --lidar f1tenth=run.jsonl    scans of sim://f1tenth?map=room.yaml&sensors=run.jsonl
  tandem station --map corridor        under sim://f1tenth?track=corridor; or a ROS map's .yaml
  tandem station --log drive.mcap      a recorded drive on the same page, with a time slider

  tandem station --phone 192.168.1.7   phones of that network watch and stop; see the code it shows
  tandem station --fleet hall          the big Stop is tandem stop --fleet hall besides

It listens on 127.0.0.1 and nowhere else, unless --phone names an address of this machine. Its pages
load nothing from anywhere else.
exit codes: 3 the port is taken; 130 ended by Ctrl-C.
"""

from __future__ import annotations

import argparse
import asyncio
import datetime
import sys
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path

from host_bridge.cli.arguments.arg_types import positive, whole
from host_bridge.cli.arguments.lidar_option import parse_lidars
from host_bridge.core.errors import UsageFault
from host_bridge.core.system.running import run_async
from host_bridge.drive.controls import make_input
from host_bridge.inputs.manoeuvres.player import MANOEUVRES
from host_bridge.sharing.services import Host
from host_bridge.station import Server, StationBackend
from host_bridge.station.backend.camera_process import open_camera
from host_bridge.station.backend.foxglove_feeds import feed
from host_bridge.station.backend.live_backend import LiveBackend, stop_cars
from host_bridge.station.backend.plots_process import PlotsProcess
from host_bridge.station.backend.programs import Recording
from host_bridge.station.backend.replay_backend import ReplayBackend
from host_bridge.station.backend.stop_rounds import FleetRounds, fleet_function
from host_bridge.station.phone.phone_station import phones_at
from host_bridge.station.views.floor import floor_json, parse_starts
from host_bridge.station.views.foxglove_layout import LAYOUT
from host_bridge.station.views.foxglove_server import FoxgloveServer

PORT = 8090  # any port that is seldom taken; --port has another
_FOXGLOVE_PORT = 8765  # Foxglove's default port
_SPEED_MPS = 1.0  # for a deadman in a browser: 0.12 m within the seat's lease


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command line."""
    parser.add_argument(
        "--port", type=whole, default=PORT, help=f"the port of the page (default {PORT})"
    )
    parser.add_argument(
        "--log", type=Path, metavar="FILE.mcap", help="show a recorded drive, with a time slider"
    )
    _add_driving(parser.add_argument_group("driving from the page"))
    _add_pictures(parser.add_argument_group("what the page shows"))
    _add_others(parser.add_argument_group("other screens, and logs"))


def _add_driving(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--speed",
        type=positive,
        default=_SPEED_MPS,
        metavar="M_PER_S",
        help=f"the top speed for driving from the page (default {_SPEED_MPS:g})",
    )
    group.add_argument(
        "--program",
        action="append",
        default=[],
        metavar="NAME:REST",
        help="an input of tandem drive that drives while the page is held, besides the manoeuvres",
    )
    group.add_argument("--watch-only", action="store_true", help="print no address that may drive")


def _add_pictures(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--map",
        default="",
        metavar="PLACE",
        help="the track (its name) or the ROS map (its .yaml) that lies under the cars",
    )
    group.add_argument(
        "--start",
        action="append",
        default=[],
        metavar="[CAR=]X,Y,YAW_DEG",
        help="where a car, or every other one, began in that map (default: at its origin)",
    )
    group.add_argument(
        "--lidar",
        action="append",
        default=[],
        metavar="CAR=FILE",
        help="a file with a car's scans as lines of JSON, for the map and for recordings",
    )
    group.add_argument(
        "--camera",
        metavar="SOURCE",
        help="a camera to show beside the map: /dev/video0, or the URL of an MJPEG stream",
    )
    group.add_argument(
        "--no-plots",
        action="store_true",
        help="leave out plots and map, which take a second program",
    )


def _add_others(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--phone",
        metavar="ADDRESS",
        help="an address of this machine at which phones may watch and stop, and drive once they "
        "trust the certificate that is made here",
    )
    group.add_argument(
        "--fleet",
        metavar="NAME",
        help="the page's Stop of every car stops this fleet on other machines too",
    )
    group.add_argument(
        "--foxglove",
        type=whole,
        nargs="?",
        const=_FOXGLOVE_PORT,
        metavar="PORT",
        help=f"serve Foxglove too, which can watch and stop (default {_FOXGLOVE_PORT})",
    )
    group.add_argument(
        "--record-to",
        type=Path,
        default=Path(),
        metavar="FOLDER",
        help="the folder to which the page records, and whose logs it lists (default: this one)",
    )


def run(args: argparse.Namespace, host: Host) -> int:
    """Run until Ctrl-C.

    Raises errors.TandemError.
    """
    return run_async(_run(args, host))


async def _run(args: argparse.Namespace, host: Host) -> int:
    _refuse(args)
    if args.log:
        log = ReplayBackend(args.log, host.vehicles, host.cars.clock.now_us)
        floor = floor_json(args.map, parse_starts(args.start), {})
        return await _serve(args, log, floor, has_seat=False)
    recording = Recording(args.record_to, parse_lidars(args.lidar), _local_now)
    camera = open_camera(args.camera, args.port + 2) if args.camera else None
    programs = _programs(args.program, host)
    floor = floor_json(args.map, parse_starts(args.start), _paths(programs))
    backend = LiveBackend(host, args.speed, recording, camera, _local_now, programs)
    if args.fleet:
        backend.fleet = FleetRounds(fleet_function(args.fleet))
    if args.foxglove:
        backend.foxglove = FoxgloveServer(args.foxglove, stop_cars)
        print(f"Foxglove: ws://127.0.0.1:{args.foxglove}, layout {LAYOUT}", file=sys.stderr)
    tasks = [asyncio.create_task(backend.follow_served_cars())]
    if camera:
        tasks.append(asyncio.create_task(camera.run()))
    if backend.foxglove:
        scans = parse_lidars(args.lidar)
        tasks.append(asyncio.create_task(feed(backend.foxglove, scans, camera)))
    try:
        async with phones_at(args.phone, backend, has_seat=not args.watch_only):
            origin = camera.origin if camera else ""
            return await _serve(args, backend, floor, not args.watch_only, origin)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await backend.close()


def _refuse(args: argparse.Namespace) -> None:
    """Raise errors.UsageFault if what is asked for does not go together."""
    if args.log and args.phone:
        raise UsageFault(
            "a recorded drive is shown on this machine, and on no phone",
            expected="--log or --phone",
            got="both",
        )
    if args.log and args.fleet:
        raise UsageFault("a recorded drive stops no fleet", expected="--log or --fleet", got="both")


def _programs(texts: list[str], host: Host) -> dict[str, str]:
    """Return the inputs that the page offers, by what it shows of them.

    Raises errors.TandemError for what is no program.
    """
    found = {name: f"script:{name}" for name in MANOEUVRES}
    for text in texts:
        if make_input(text, {}, host.cars.clock.now_us).is_person:
            raise UsageFault(
                "a person's device is no program",
                where=f"--program {text}",
                expected="script:NAME, csv:FILE or path:FILE",
            )
        kind, _, rest = text.partition(":")
        found[f"{kind} {Path(rest.partition('?')[0]).stem}"] = text
    return found


def _paths(programs: Mapping[str, str]) -> dict[str, Path]:
    """Return the files of those programs that follow a path, by what the page shows of them."""
    parts = {name: text.partition(":") for name, text in programs.items()}
    return {
        name: Path(rest.partition("?")[0])
        for name, (kind, _, rest) in parts.items()
        if kind == "path"
    }


async def _serve(
    args: argparse.Namespace,
    backend: StationBackend,
    floor: bytes,
    has_seat: bool,
    camera: str = "",
) -> int:
    has_plots = not args.no_plots and find_spec("nicegui") is not None
    # Another site than the page's 127.0.0.1, so that a browser runs it in a process of its own
    views = f"http://localhost:{args.port + 1}/" if has_plots else ""
    server = Server(backend, args.port, views, camera, floor)
    plots: list[asyncio.Task[None]] = []

    def is_up() -> None:
        print(f"http://127.0.0.1:{args.port}/{'#seat=' * has_seat}", end="")
        print(server.access.token if has_seat else "", flush=True)
        if has_plots:
            program = PlotsProcess(args.port, _view_words(args), server.tell_views)
            plots.append(asyncio.create_task(program.run()))
        elif not args.no_plots:
            print("without plots: pip install 'tandem-cars[station]'", flush=True)

    try:
        await server.run(is_up)
    finally:
        for task in plots:
            task.cancel()
        await asyncio.gather(*plots, return_exceptions=True)
    return 0


def _view_words(args: argparse.Namespace) -> list[str]:
    log = ["--log", str(args.log)] if args.log else []
    folder = args.log.parent if args.log else args.record_to
    return [*log, "--logs", str(folder), *(f"--lidar={word}" for word in args.lidar)]


def _local_now() -> datetime.datetime:
    return datetime.datetime.now().astimezone()
