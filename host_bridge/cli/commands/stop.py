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

import os
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
    import queue
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from typing import TextIO

    from host_bridge.sharing.network.invitations import Reached
    from host_bridge.sharing.network.stops.fleet_stop import FleetCar

    Outcome = tuple[Sequence[StopCall | FleetCar], Exception | None]

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

It exits with 0 only if every car has acknowledged the stop. A car of a fleet on another machine has
proven it (the token of tandem accept makes that possible), says so, or is silent. One that is named
by its address says so. What is only said can be forged by whoever is on the network: look. A car
that should have proven it, or that was reached before and is silent, is an error, and so is another
car at that address, which is stopped too.
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
    show, jobs = _Report(is_json), _Jobs()
    is_wide = is_everywhere or fleet is not None
    if is_wide:
        jobs.begin(partial(_stop_elsewhere, fleet or ""))
    afar = dict.fromkeys(uri for uri in map(as_uri, words) if is_of_another_host(uri))
    for uri in afar:
        jobs.begin(partial(_stop_afar, uri))
    found: list[StopSocket] = []
    meant = _asked_for(find_stop_sockets(), words, fleet, found)
    faults: list[Exception] = []
    try:
        stop_served(meant, SENDER_COMMAND if fleet is None else SENDER_FLEET, show.served)
    except TandemError as fault:  # not all were found: nobody is told "is not served"
        faults.append(fault)
    served = sorted(found, key=by_name)
    here = [text for text in words if as_uri(text) not in afar]
    uris, not_served = _uris(here, served, show.acknowledged)
    for uri in uris:
        jobs.begin(partial(_stop_here, uri))
    outcomes = jobs.end(show.add)
    if not faults:
        is_there = is_wide and bool(outcomes[0][0])
        faults += not_served
        if fleet is not None and not is_there:
            faults += _no_fleet(fleet, served)
        elif not words and not is_there:
            faults += _no_car(served)
    faults += [fault for _, fault in outcomes if fault]
    show.end()
    for other in faults[1:]:
        _print(str(other), sys.stderr)
    if faults:
        raise faults[0]
    return 0 if show.is_all_seen else DeviceFault.exit_code


class _Jobs:
    """Stops that may take long, each in a thread of its own, so that none delays another.

    Threads are left behind if this program is interrupted: one may wait for a host's name.
    """

    def __init__(self) -> None:
        self._begun = 0
        self._done: queue.SimpleQueue[tuple[int, Outcome]] | None = None

    def begin(self, job: Callable[[], Outcome]) -> None:
        import queue  # these imports take 2 ms, and the usual stop has no such job
        import threading

        self._done = done = self._done or queue.SimpleQueue()
        place, self._begun = self._begun, self._begun + 1

        def work() -> None:
            try:
                outcome = job()
            except Exception as fault:  # noqa: BLE001 - raised in the end, after all others
                outcome = [], fault
            done.put((place, outcome))

        threading.Thread(target=work, daemon=True).start()

    def end(self, tell: Callable[[StopCall | FleetCar], object]) -> list[Outcome]:
        """Wait for all of them; ``tell`` gets each call as it is over."""
        outcomes: dict[int, Outcome] = {}
        for _ in range(self._begun):
            assert self._done is not None, "one was begun"
            place, outcome = self._done.get()
            outcomes[place] = outcome
            for call in outcome[0]:
                tell(call)
        return [outcomes[place] for place in range(self._begun)]


def _stop_afar(uri: str) -> Outcome:
    """Stop a car of another machine. Raises errors.TandemError."""
    from host_bridge.sharing.network.stops.network_stop import stop_afar

    return [stop_afar(uri)], None


def _stop_here(uri: str) -> Outcome:
    """Stop a car through its port. Raises errors.TandemError."""
    return [stop_directly(uri)], None


def _stop_elsewhere(fleet: str) -> Outcome:
    """Stop a fleet, or every car for "", on other machines."""
    from host_bridge.sharing.network.stops.fleet_messages import fleet_tag
    from host_bridge.sharing.network.stops.fleet_sockets import own_addresses
    from host_bridge.sharing.network.stops.fleet_stop import FleetStop

    wanted = fleet_tag(fleet)

    def known() -> Iterable[Reached]:
        from host_bridge.sharing.network.invitations import reached_cars

        return reached_cars(wanted)

    call = FleetStop(wanted, known, partial(_print, file=sys.stderr), own_addresses())
    return [it for it in call.run() if it.is_known], call.fault


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


def _uris(
    words: Sequence[str], served: Sequence[StopSocket], acknowledged: Sequence[StopSocket | int]
) -> tuple[list[str], list[Exception]]:
    """Return the URIs that are stopped without who serves cars here, and a fault for each name that
    nobody serves."""
    uris: dict[str, None] = {}
    faults: list[Exception] = []
    for text in words:
        name, uri = _name(text), as_uri(text)
        wanted = tag(uri)
        found = [it for it in served if it.name == name or it.uri == wanted]
        if "://" in name and not _is_settled(uri, found, acknowledged):
            uris[uri] = None
        elif not found:
            faults.append(_unknown(name, served))
    return list(uris), faults


def _is_settled(
    uri: str, found: Sequence[StopSocket], acknowledged: Sequence[StopSocket | int]
) -> bool:
    """Return whether it is enough to have asked who serves this car here, as far as they say.

    Any login may say so: for a port its word does if an answer came.
    """
    is_port = uri.startswith("serial://")
    return any(not is_port or not it.is_foreign or it in acknowledged for it in found)


def _unknown(name: str, served: Sequence[StopSocket]) -> DeviceFault:
    return DeviceFault(
        f"nobody serves a car by the name of {name}",
        got=f"served here: {_names(served)}",
        remedy="tandem stop without a name stops all of them",
    )


def _name(text: str) -> str:
    """The name of a served car, if this is one."""
    return as_uri(text).removeprefix("tandem:///")


def _no_fleet(fleet: str, served: Sequence[StopSocket]) -> list[DeviceFault]:
    """Return a fault if no car of this fleet is served here."""
    wanted = tag(fleet)
    if any(it.fleet == wanted for it in served):
        return []
    return [
        DeviceFault(
            f"no car of a fleet {fleet} is served on this machine, and no other machine has one",
            got=f"served here: {_names(served)}",
            remedy="tandem stop without a name stops all cars; tandem serve --fleet names a fleet",
        )
    ]


def _no_car(served: Sequence[StopSocket]) -> list[DeviceFault]:
    """Return a fault if no car is served here."""
    if served:
        return []
    return [
        DeviceFault(
            "no car is served on this machine",
            got=f"none in {', '.join(stop_folders())}",
            remedy="a car on a port: tandem stop serial:///dev/ttyACM0",
        )
    ]


def _names(sockets: Sequence[StopSocket]) -> str:
    return ", ".join(it.name + login_of(it) for it in sockets) or "no car"


class _Report:
    """The output: each car as it is acknowledged, or all as JSON in the end."""

    def __init__(self, is_json: bool) -> None:
        self.is_all_seen = True
        self.acknowledged: list[StopSocket | int] = []  # through what an answer came
        self._is_json = is_json
        self._rows: list[dict[str, object]] = []

    def served(self, call: StopCall) -> None:
        if call.is_seen:
            self.acknowledged.append(call.through)
        self.add(call)

    def add(self, call: StopCall | FleetCar) -> None:
        self.is_all_seen &= call.is_seen
        if self._is_json:
            self._rows.append(call.row())
        else:
            _print(str(call), sys.stdout if call.is_seen else sys.stderr)

    def end(self) -> None:
        if self._is_json:
            import json

            _print(json.dumps(self._rows), sys.stdout)


def _print(text: str, file: TextIO) -> None:
    """Print a line at once; the stop goes on where nobody reads it, or no disk takes it."""
    try:
        print(f"{text}\n", end="", file=file, flush=True)  # at once: a fleet has its own thread
    except OSError:
        _discard(file)


def _discard(file: TextIO) -> None:
    """Let all go nowhere that is printed from now on, and at the end of the program."""
    try:  # noqa: SIM105 - contextlib takes 2 ms to import
        os.dup2(os.open(os.devnull, os.O_WRONLY), file.fileno())
    except OSError:  # no file is left: to print fails again
        pass
