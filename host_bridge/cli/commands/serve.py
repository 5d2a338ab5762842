"""``tandem serve``: owns a car's line, and shares it with every command on this machine."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

from host_bridge.cli.arguments.car_option import add_car, car_of, parse_board_id
from host_bridge.cli.output.status_line import LiveLines, status_line
from host_bridge.config import vehicle_word
from host_bridge.core.errors import UsageFault
from host_bridge.core.system.running import run_async
from host_bridge.deploy.autostart.installing import install, remove
from host_bridge.deploy.autostart.unit import Unit, lasting_port, make_unit, this_login, unit_path
from host_bridge.link.protocol.wire import own_protocol_hash
from host_bridge.logs.recorder import Recorder
from host_bridge.sharing.endpoints.naming import as_uri
from host_bridge.sharing.owner.car_server import CarServer
from host_bridge.sharing.owner.radio import RadioEndpoint
from host_bridge.sharing.owner.recording import new_recorder
from host_bridge.sharing.services import Host

EPILOG = """\
examples:
  tandem serve --car serial:///dev/ttyACM0
  tandem serve --car sim://nigel --name twin
  tandem serve --car serial:///dev/ttyACM0 --record drive.mcap
  tandem serve --car serial:///dev/ttyACM0 --name red --board e6614103e7452a2f
  tandem serve --car serial:///dev/ttyACM0 --fleet red     # tandem stop --fleet red
  tandem serve --car /dev/ttyACM0 --listen 192.168.1.7    # tandem://192.168.1.7/NAME
  tandem serve --car serial:///dev/ttyACM0 --radio 'serial:///dev/ttyUSB0?baud=57600'
  tandem serve --car serial:///dev/ttyACM0 --name red --install-unit   # by itself at each login
  tandem serve --name red --remove-unit

Where the car's cable is plugged in. While it runs, tandem drive, monitor, arm, clear, stop and
record reach the car by its name. It passes on what they say, and adds only that it is there itself,
for cars that have the owner as a stop source. When the cable comes out it waits for it; the car is
not armed again by that. Ctrl-C ends: an armed car is stopped.
A car is its board. If another board comes to the port it is not served: it can be stopped, and is
neither driven nor written to until this command is begun anew. A --name that this host keeps of
another board is refused; --board says which one is meant (tandem identify shows it).
With --listen the car can be reached from other machines: whoever has a token of tandem invite may
do what that says, and anyone may stop it. Without --listen nothing is heard from elsewhere. The
car is then announced to the network too (tandem cars --nearby), unless --no-announce is given.
--install-unit shows a systemd unit that serves the car as this command line says, asks, writes it
and starts it; --remove-unit ends and removes it. With --system it is the machine's, and root's.
On --radio a runstop box is heard; by radio a car can be stopped, and nothing else.
"""
EVERY_S = 0.2  # between two pictures of the screen, which shows only changes of state


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command line."""
    parser.description = "Own a car's line, and share it with every command on this machine."
    parser.epilog = EPILOG
    add_car(parser, what="the URI of a car")
    parser.add_argument("--name", help="the name to serve it under (default: the car's own)")
    parser.add_argument("--board", metavar="ID", help="serve the car only if it has this board")
    parser.add_argument(
        "--vehicle", help="its vehicle type (default: known from its configuration)"
    )
    parser.add_argument(
        "--fleet",
        default="",
        metavar="NAME",
        help="the name of a fleet, whose cars are stopped together",
    )
    parser.add_argument(
        "--listen",
        metavar="ADDRESS",
        help="an address of this machine at which guests are let in, and anyone may stop the car",
    )
    parser.add_argument(
        "--no-announce",
        action="store_true",
        help="with --listen: do not say on the network that the car is here",
    )
    parser.add_argument("--radio", metavar="URI", help="the line of the radio of a runstop box")
    parser.add_argument(
        "--record", type=Path, metavar="FILE.mcap", help="log every byte to this file"
    )
    _add_unit_options(parser)


def _add_unit_options(parser: argparse.ArgumentParser) -> None:
    unit = parser.add_mutually_exclusive_group()
    unit.add_argument(
        "--install-unit", action="store_true", help="let systemd begin it: shown, asked, written"
    )
    unit.add_argument("--remove-unit", action="store_true", help="end and remove that unit")
    parser.add_argument(
        "--system", action="store_true", help="with these: the machine's unit, not this login's"
    )
    parser.add_argument("--yes", action="store_true", help="with these: agree without being asked")


def run(args: argparse.Namespace, host: Host) -> int:
    """Serve the car until Ctrl-C; or install or remove the unit that does.

    Raises errors.TandemError.
    """
    if args.install_unit:
        return _install_unit(args, host)
    if args.remove_unit:
        login = this_login(args.system)
        path = unit_path(args.name or "", args.system, login)
        remove(Unit(path, "", args.system), is_agreed=args.yes)
        return 0
    if args.system or args.yes:
        raise UsageFault(
            "--system and --yes belong to --install-unit and --remove-unit",
            expected="one of these two",
        )
    return run_async(_serve(args, host))


def _install_unit(args: argparse.Namespace, host: Host) -> int:
    uri = lasting_port(_uri_of(args))
    words = ["serve", "--car", uri, "--name", args.name or ""]
    if args.vehicle:
        words += ["--vehicle", vehicle_word(host.vehicles.load(args.vehicle))]
    if args.record:
        raise UsageFault(
            "a service that begins anew each day would find its log in the way",
            got=f"--record {args.record}",
            remedy="log a drive with tandem record, from any terminal",
        )
    for option in ("board", "fleet", "listen", "radio"):
        if getattr(args, option):
            words += [f"--{option}", getattr(args, option)]
    words += ["--no-announce"] * args.no_announce
    login = this_login(args.system)
    install(
        make_unit(args.name or "", words, is_system=args.system, login=login), is_agreed=args.yes
    )
    return 0


def _uri_of(args: argparse.Namespace) -> str:
    uri = as_uri(car_of(args) or "")
    if "://" not in uri:
        raise UsageFault(
            "no car to serve is named",
            expected="the URI or the port of a car: sim://nigel, serial:///dev/ttyACM0",
            got=uri or "none",
            remedy="tandem identify shows what is at each port; a car that is served already has "
            "its name in tandem cars",
        )
    return uri


async def _serve(args: argparse.Namespace, host: Host) -> int:
    uri = _uri_of(args)
    service = await host.cars.serve(
        uri,
        name=args.name,
        vehicle=args.vehicle,
        epoch=host.cars.new_epoch(),
        fleet=args.fleet,
        radio=args.radio,
        board_id=parse_board_id(args.board),
        listen=args.listen,
    )
    log: Recorder | None = None
    try:
        log = new_recorder(args.record, host.cars.clock) if args.record else None
        async with _announcing(service, args):
            await _stay(service, log)
    finally:
        try:
            await service.close()  # before the log: the last frames belong into it
        finally:
            if log:
                log.close()
                if log.fault:
                    print(f"tandem: {log.fault}", file=sys.stderr)
    return 0


def _announcing(
    service: CarServer, args: argparse.Namespace
) -> contextlib.AbstractAsyncContextManager[None]:
    """Return the announcing of a car that listens; of any other, nothing."""
    if service.network is None or args.no_announce:
        return contextlib.nullcontext()
    from host_bridge.sharing.discovery.announcement import announcement_of
    from host_bridge.sharing.discovery.announcer import announced
    from host_bridge.sharing.network.stops.fleet_messages import fleet_tag

    car = announcement_of(
        service.name,
        service.board_id,
        own_protocol_hash(),
        service.vehicle_name(),
        fleet_tag(args.fleet),
    )
    return announced(
        car, service.network.address, lambda it: print(f"tandem: {it}", file=sys.stderr)
    )


async def _stay(service: CarServer, log: Recorder | None) -> None:
    if log:
        service.record(log)
    print(f"{service.uri} is served as {service.name}; Ctrl-C ends", flush=True)
    for place in filter(None, (service.network,)):
        for uri in place.uris(service.name):
            print(f"reached by the network as {uri}", flush=True)
    screen = LiveLines(sys.stdout)
    while True:
        columns = shutil.get_terminal_size().columns
        if sys.stdout.isatty():
            screen.draw([status_line(service.car), f"    {_news(service, log)}"], columns)
        else:
            screen.draw([_news(service, log)], columns)
        await asyncio.sleep(EVERY_S)


def _news(service: CarServer, log: Recorder | None) -> str:
    """Return what the car's status does not say: another car, line and log faults, counts."""
    if service.car.stranger:
        return f"{service.car.stranger}; {service.car.remedy}"
    fault = service.owner.line_fault
    if fault:
        return f"no line: {str(fault).splitlines()[0]}; waiting for it to come back"
    if log and log.fault:
        return str(log.fault)
    return ", ".join(_counts(service))


def _counts(service: CarServer) -> Iterator[str]:
    owner = service.owner
    clients = owner.clients - 1  # without the service's own listener
    yield f"{clients} client{'' if clients == 1 else 's'}"
    if owner.undelivered_bytes:
        yield f"{owner.undelivered_bytes} bytes not delivered to clients that did not read"
    if owner.refused_bytes:
        yield f"{owner.refused_bytes} bytes refused of clients that said too much"
    if owner.unsent_bytes:
        yield f"{owner.unsent_bytes} bytes not sent to the car"
    if service.network:
        yield from service.network.news()
    if service.radio:
        yield from _of_radio(service.radio)


def _of_radio(radio: RadioEndpoint) -> Iterator[str]:
    fault = radio.owner.line_fault
    yield f"no radio: {str(fault).splitlines()[0]}" if fault else "a radio"
    if radio.filter.refused:
        yield f"{radio.filter.refused} frames by radio that may not come by it"
