"""Let a MAVLink ground station see a car, stop it and, where the rules allow it, drive it.

The car is a ground rover of a generic autopilot: QGroundControl, MAVProxy, MAVSDK and pymavlink
find it on UDP. Anybody's disarm, forced or not, and flight termination stop it, at once and
unsigned. A virtual car is armed by the station and driven by MANUAL_CONTROL (its joystick). A real
car is armed by the person beside it, and driven by the signed messages of a station that was
invited to drive, while the button of --deadman is held.

Without --to it tells 127.0.0.1:14550, where a station of this machine listens. An address beyond
this machine needs a station that was invited: tandem invite CAR --mavlink prints the passphrase to
type into it. There everything but a stop has to be signed. Each station has a passphrase of its
own; tandem guests lists and revokes them, also while this runs.

examples:
  tandem mavlink --car sim://f1tenth                  and open QGroundControl on this machine
  tandem mavlink f1tenth --system 7                   a car that is served, as system 7
  tandem mavlink f1tenth --to 127.0.0.1:14551         mavproxy.py --master=udp:127.0.0.1:14551
  tandem mavlink f1tenth --origin 48.137,11.575,90    on the map; its x axis points east
  tandem invite f1tenth --mavlink --role drive --label Ada       prints Ada's passphrase
  tandem mavlink f1tenth --listen 192.168.7.2:14550 --deadman 4  where Ada's station calls
  tandem mavlink f1tenth --watch-only                 nobody drives or arms by it

exit codes: 0 the time of --seconds is over; 2 an address beyond this machine, and nobody invited;
3 the port is taken, or pymavlink is not installed; 130 ended by Ctrl-C.
"""

from __future__ import annotations

import argparse
import json
import math
from dataclasses import asdict
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from host_bridge.cli.arguments.arg_types import add_seconds, positive, whole
from host_bridge.cli.arguments.car_option import add_car, add_vehicle_option, car_of
from host_bridge.core.errors import DeviceFault, UsageFault
from host_bridge.core.files import parse_number
from host_bridge.core.system.running import run_async
from host_bridge.deploy.doctor.checks import STATION_PORT
from host_bridge.sharing.endpoints.attached import Attached
from host_bridge.sharing.services import Host

if TYPE_CHECKING:
    from host_bridge.station.mavlink.messages.frames import Origin
    from host_bridge.station.mavlink.run import Options

_SYSTEMS = range(1, 251)  # MAVLink's; 251 to 255 are for stations
_BUTTONS = range(16)  # MANUAL_CONTROL.buttons
_LATITUDE, _LONGITUDE, _CIRCLE = 89.0, 180.0, 360.0  # degrees; at a pole no heading has a meaning


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command line."""
    add_car(parser)
    parser.add_argument(
        "--to",
        metavar="HOST:PORT",
        help=f"the station that is told (default 127.0.0.1:{STATION_PORT})",
    )
    parser.add_argument(
        "--listen", metavar="HOST:PORT", help="where stations may call (default: any free port)"
    )
    parser.add_argument(
        "--system", type=whole, default=1, metavar="N", help="the car's system id (default 1)"
    )
    parser.add_argument(
        "--origin",
        metavar="LAT,LON[,HEADING]",
        help="where the car starts, and where its x axis points, in degrees: puts it on the map",
    )
    parser.add_argument(
        "--deadman",
        type=whole,
        metavar="BUTTON",
        help="the joystick's button that is held to drive, 0 to 15; a real car needs one",
    )
    add_vehicle_option(parser)
    parser.add_argument("--speed", type=positive, metavar="M_PER_S", help="the top speed")
    parser.add_argument(
        "--watch-only", action="store_true", help="stations watch and stop, and nothing else"
    )
    parser.add_argument(
        "--record", type=Path, metavar="FILE.mcap", help="log the car and all MAVLink frames"
    )
    parser.add_argument("--json", action="store_true", help="print lines of JSON")
    add_seconds(parser)


def run(args: argparse.Namespace, host: Host) -> int:
    """Run the command; return the exit code.

    Raises errors.TandemError.
    """
    if find_spec("pymavlink") is None:
        raise DeviceFault(
            "MAVLink needs pymavlink, which is not installed here",
            remedy="pip install 'tandem-cars[mavlink]'",
        )
    from host_bridge.station.mavlink.run import serve

    def tell(name: str, text: str) -> None:
        print(
            json.dumps({"car": name, "text": text}) if args.json else f"{name}: {text}", flush=True
        )

    def tell_stations(name: str, stations: list[Attached]) -> None:
        if args.json:
            print(json.dumps({"car": name, "stations": list(map(asdict, stations))}), flush=True)

    return run_async(serve(_options(args), host, tell, tell_stations))


def _options(args: argparse.Namespace) -> Options:
    from host_bridge.station.mavlink.endpoint import LOOPBACK, parse_address
    from host_bridge.station.mavlink.messages.frames import LocalFrame
    from host_bridge.station.mavlink.run import Options
    from host_bridge.station.mavlink.speaker import GatewaySettings

    _check(args.system, _SYSTEMS, "--system")
    if args.deadman is not None:
        _check(args.deadman, _BUTTONS, "--deadman")
    listen = parse_address(args.listen, "--listen") if args.listen else None
    to = args.to or ("" if listen else f"{LOOPBACK}:{STATION_PORT}")
    origin = _origin(args.origin) if args.origin else None
    settings = GatewaySettings(
        args.system,
        is_virtual=False,
        to=parse_address(to, "--to") if to else None,
        frame=origin.frame if origin else LocalFrame(),
        origin=origin,
    )
    return Options(
        car_of(args),
        settings,
        listen,
        deadman=args.deadman,
        speed_mps=args.speed,
        is_watch_only=args.watch_only,
        record=args.record,
        seconds=args.seconds,
        vehicle=args.vehicle,
    )


def _check(value: int, known: range, option: str) -> None:
    if value not in known:
        raise UsageFault(
            "out of range",
            where=f"{option} {value}",
            expected=f"{known[0]} to {known[-1]}",
            got=str(value),
        )


def _origin(text: str) -> Origin:
    from host_bridge.station.mavlink.messages.frames import LocalFrame, Origin

    parts = text.split(",")
    try:
        latitude, longitude, *rest = map(parse_number, parts)
        heading = rest[0] if rest else 0.0
        is_one = len(rest) <= 1 and abs(latitude) <= _LATITUDE and abs(longitude) <= _LONGITUDE
    except ValueError:
        is_one = False
    if not is_one:
        raise UsageFault(
            "no place on the map",
            where=f"--origin {text}",
            expected="LAT,LON or LAT,LON,HEADING in degrees, north, east and clockwise positive",
            remedy="such as --origin 48.137,11.575,90",
        )
    return Origin(latitude, longitude, LocalFrame(math.radians(heading % _CIRCLE)))
