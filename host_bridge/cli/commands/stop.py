"""``tandem stop``: stop cars, now.

It needs no session, key or state, and imports little, so that from the press of Enter to the
brakes it takes a fraction of a second. The stop frame is repeated until the car has acknowledged
it. Every car that is served on this machine is found, whichever login serves it and whatever the
environment is: each has a stop socket at a path that is the same for all.

The stop goes through the process that serves the car. If that process hangs, no claim reaches the
car either, and the car has stopped by itself. If no answer comes, this command says so, says what
is known of the car, and ends with an error. A process that does not accept the connection at once
is asked again until the second is over, and may call back (``host_bridge/sharing/stop``): it may
hang, and other connections may fill its queue.
"""

from __future__ import annotations

import sys
from functools import partial

from host_bridge.core.errors import DeviceFault, TandemError
from host_bridge.sharing.endpoints.folders import stop_folders
from host_bridge.sharing.endpoints.naming import as_uri, is_of_another_host
from host_bridge.sharing.stop.frozen_stop import (
    SENDER_COMMAND,
    SENDER_FLEET,
)
from host_bridge.sharing.stop.stop_request import (
    StopCall,
    by_name,
    login_of,
    stop_directly,
    stop_served,
)
from host_bridge.sharing.stop.stop_sockets import StopSocket, find_stop_sockets, tag

TYPE_CHECKING = False  # typing takes 3 ms to import
if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from host_bridge.sharing.network.invitations import Reached
    from host_bridge.sharing.network.stops.fleet_stop import FleetCar

EPILOG = """\
examples:
  tandem stop                   every car that is served on this machine, by whichever login
  tandem stop nigel             one of them; a name that is wrong keeps no other from stopping
  tandem stop --fleet red       those that tandem serve --fleet red serves, on this machine and on
                                others that listen (tandem serve --listen)
  tandem stop --all-networks    every car of every fleet, here and on others
  tandem stop serial:///dev/ttyACM0
                                a car that nobody serves, straight through its port
  tandem stop tandem://192.168.1.7/red
                                a car that another machine serves; it needs no token

It exits with 0 only if every car has acknowledged the stop. A car on another machine has proven it
(the token of tandem accept makes that possible), says so, or is silent. What it says without a
token can be forged by whoever is on the network: look. A car that should have proven it, or that
was reached before and is silent, is an error.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command line."""
    parser.description = "Stop cars, now; by default all that are served on this machine."
    parser.epilog = EPILOG
    parser.add_argument("car", nargs="*", metavar="CAR", help="the cars: served names or URIs")
    parser.add_argument("--all", action="store_true", help="stop all served cars (the default)")
    parser.add_argument(
        "--fleet", metavar="NAME", help="stop the cars of this fleet, on other machines too"
    )
    parser.add_argument(
        "--all-networks", action="store_true", help="stop all cars, here and on other machines"
    )
    parser.add_argument("--json", action="store_true", help="print the outcome as JSON")


def stop_all() -> int:
    """Run ``tandem stop`` without arguments, and so without importing argparse."""
    return _stop((), None, is_json=False)


def run(args: argparse.Namespace, host: object = None) -> int:
    """Return 0 if every car acknowledged the stop.

    Raises errors.TandemError for a car that could not be told to stop, after all others were: a
    wrong name delays no stop.
    """
    if args.all_networks:
        return _stop((), None, args.json, is_everywhere=True)
    words = () if args.all else tuple(args.car)
    return _stop(words, None if args.all else args.fleet, args.json)


def _stop(
    words: Sequence[str], fleet: str | None, is_json: bool, *, is_everywhere: bool = False
) -> int:
    sockets: list[StopSocket] = []
    show = _Report(is_json)
    meant = _asked_for(find_stop_sockets(), words, fleet, sockets)
    stop_served(meant, SENDER_COMMAND if fleet is None else SENDER_FLEET, show.add)
    served = sorted(sockets, key=by_name)
    uris, faults = _chosen([partial(_named, text, served) for text in words])
    for uri in uris:
        try:
            if is_of_another_host(uri):
                from host_bridge.sharing.network.stops.network_stop import stop_afar

                show.add(stop_afar(uri))
            else:
                show.add(stop_directly(uri))
        except TandemError as fault:
            faults.append(fault)
    is_there = False
    if is_everywhere or fleet is not None:  # last, for it takes a second
        is_there = _stop_elsewhere(fleet or "", show, faults)
    if fleet is not None and not is_there:
        faults += _chosen([partial(_of_fleet, fleet, served)])[1]
    elif not words and not is_there:
        faults += _chosen([partial(_every, served)])[1]
    show.end()
    for other in faults[1:]:
        print(other, file=sys.stderr)
    if faults:
        raise faults[0]
    return 0 if show.is_all_seen else DeviceFault.exit_code


def _stop_elsewhere(fleet: str, show: _Report, faults: list[TandemError]) -> bool:
    """Stop a fleet, or every car for "", on other machines; return whether there is one.

    ``faults`` gets what kept this machine from knowing all of them.
    """
    from host_bridge.sharing.network.stops.fleet_messages import fleet_tag
    from host_bridge.sharing.network.stops.fleet_sockets import own_addresses
    from host_bridge.sharing.network.stops.fleet_stop import FleetStop

    wanted = fleet_tag(fleet)

    def known() -> Iterable[Reached]:
        from host_bridge.sharing.network.invitations import reached_cars

        return reached_cars(wanted)

    def tell(line: str) -> None:
        print(line, file=sys.stderr)

    call = FleetStop(wanted, known, tell, own_addresses())
    heard = [it for it in call.run() if it.is_known]
    if call.fault:
        faults.append(call.fault)
    for it in heard:
        show.add(it)
    return bool(heard)


def _asked_for(
    all_of: Iterable[StopSocket | None],
    words: Sequence[str],
    fleet: str | None,
    sockets: list[StopSocket],
) -> Iterator[StopSocket | None]:
    """Pass on what is asked for, and close the rest; ``sockets`` gets all of them."""
    names, uris = {_name(text) for text in words}, {tag(as_uri(text)) for text in words}
    wanted = None if fleet is None else tag(fleet)
    for it in all_of:
        if it is None:
            yield None
            continue
        sockets.append(it)
        is_any = not words and fleet is None
        if is_any or it.name in names or it.uri in uris or it.fleet == wanted:
            yield it
        else:
            it.close()


def _chosen(
    choices: Sequence[Callable[[], Sequence[StopSocket | str]]],
) -> tuple[list[str], list[TandemError]]:
    """The URIs of cars that nobody serves; what is wrong with the other choices."""
    uris: dict[str, None] = {}
    faults: list[TandemError] = []
    for choose in choices:
        try:
            uris.update(dict.fromkeys(it for it in choose() if isinstance(it, str)))
        except TandemError as fault:
            faults.append(fault)
    return list(uris), faults


def _named(text: str, sockets: Sequence[StopSocket]) -> Sequence[StopSocket | str]:
    """The served cars of a name or URI; else the URI. Raises errors.DeviceFault."""
    name, text = _name(text), as_uri(text)
    wanted = tag(text)
    found = [it for it in sockets if it.name == name or it.uri == wanted]
    if found:
        return found
    if "://" in text and name == text:
        return [text]
    raise DeviceFault(
        f"nobody serves a car by the name of {name}",
        got=f"served here: {_names(sockets)}",
        remedy="tandem stop without a name stops all of them",
    )


def _name(text: str) -> str:
    """The name of a served car, if this is one."""
    return as_uri(text).removeprefix("tandem:///")


def _of_fleet(fleet: str, sockets: Sequence[StopSocket]) -> Sequence[StopSocket]:
    """Return the served cars of this fleet. Raises errors.DeviceFault if there is no such fleet."""
    wanted = tag(fleet)
    chosen = [it for it in sockets if it.fleet == wanted]
    if not chosen:
        raise DeviceFault(
            f"no car of a fleet {fleet} is served on this machine, and no other machine has one",
            got=f"served here: {_names(sockets)}",
            remedy="tandem stop without a name stops all cars; tandem serve --fleet names a fleet",
        )
    return chosen


def _every(sockets: Sequence[StopSocket]) -> Sequence[StopSocket]:
    """Return all served cars. Raises errors.DeviceFault if there is none."""
    if not sockets:
        raise DeviceFault(
            "no car is served on this machine",
            got=f"none in {', '.join(stop_folders())}",
            remedy="a car on a port: tandem stop serial:///dev/ttyACM0",
        )
    return sockets


def _names(sockets: Sequence[StopSocket]) -> str:
    return ", ".join(it.name + login_of(it) for it in sockets) or "no car"


class _Report:
    """The output: each car as it is acknowledged, or all as JSON in the end."""

    def __init__(self, is_json: bool) -> None:
        self.is_all_seen = True
        self._is_json = is_json
        self._rows: list[dict[str, object]] = []

    def add(self, call: StopCall | FleetCar) -> None:
        self.is_all_seen &= call.is_seen
        if self._is_json:
            self._rows.append(call.row())
        else:
            print(call, file=sys.stdout if call.is_seen else sys.stderr, flush=True)

    def end(self) -> None:
        if self._is_json:
            import json

            print(json.dumps(self._rows))
