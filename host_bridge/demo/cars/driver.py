"""A host process to be killed: it owns one car and drives it as standard input says.

Prints one line of JSON for each status, 50 a second. Commands: ``arm``, ``speed M_PER_S``,
``release``, ``hold``, ``freeze``, ``stop`` (one Stop frame), ``quit``. In virtual time the same
coroutine runs in the loop of the demo.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections.abc import Callable
from typing import Any

from host_bridge.cars.car import ConnectedCar
from host_bridge.core.errors import TandemError
from host_bridge.demo.cars.demo_cars import DemoCars
from host_bridge.inputs.manoeuvres import Constant
from host_bridge.sharing.services import make_host
from host_bridge.sharing.stop.frozen_stop import stop_frame

_REPORT_EVERY_S = 0.02  # two steps of a car
_FOR_EVER_S = 3600.0  # an hour: longer than any demo, and a number
_TOKEN = 1  # the stop's token

Report = Callable[[dict[str, Any]], None]


async def drive(
    demo_cars: DemoCars,
    reader: asyncio.StreamReader,
    report: Report,
    every_s: float = _REPORT_EVERY_S,
) -> None:
    """Drive until ``quit`` or the end of the commands. Raises errors.TandemError."""
    try:
        await demo_cars.start()
        reporting = asyncio.create_task(_report(demo_cars, report, every_s))
        await _obey(demo_cars, reader)
        reporting.cancel()
    finally:
        await demo_cars.close()


def report_line(car: ConnectedCar) -> dict[str, Any] | None:
    """Return the report line of a car; None before its first status."""
    status = car.status
    if status is None:
        return None
    return {
        "state": status.state.name,
        "word": status.shown_state.word,
        "speed_mps": status.speed_mps,
        "causes": [cause.name for cause in status.causes],
        "is_known": car.is_online(),
        "why": car.why_stopped(),
    }


async def _report(demo_cars: DemoCars, report: Report, every_s: float) -> None:
    while True:
        line = report_line(demo_cars.fleet.cars[0])
        if line:
            report(line)
        await asyncio.sleep(every_s)


async def _obey(demo_cars: DemoCars, reader: asyncio.StreamReader) -> None:
    while line := await reader.readline():
        word, _, rest = line.decode().strip().partition(" ")
        if word == "quit":
            return
        await _do(demo_cars, word, rest)


async def _do(demo_cars: DemoCars, word: str, rest: str) -> None:
    if word == "arm":
        await demo_cars.arm()
    elif word == "speed":
        demo_cars.scripted_input.take(Constant(float(rest), _FOR_EVER_S))
    elif word == "release":
        demo_cars.scripted_input.let_go()
    elif word == "hold":
        demo_cars.scripted_input.is_held = True
    elif word == "freeze":
        demo_cars.scripted_input.is_frozen = True
    elif word == "stop":  # a single frame, sent through the owner
        frame = stop_frame(_TOKEN, "demo")
        for service in demo_cars.services.values():
            service.owner.send(frame)


async def standard_input() -> asyncio.StreamReader:
    """Return a reader of the commands on standard input."""
    reader = asyncio.StreamReader()
    loop = asyncio.get_running_loop()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    return reader


def print_line(line: dict[str, Any]) -> None:
    """Print a report as a line of JSON."""
    print(json.dumps(line), flush=True)


async def _run(uri: str, vehicle: str, name: str) -> None:
    host = make_host()
    demo_cars = DemoCars(host, host.vehicles.load(vehicle), {name: host.cars.transport(uri)})
    await drive(demo_cars, await standard_input(), print_line)


def main() -> int:
    """Run it; return the exit code, that of the error if there was one."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("uri")
    parser.add_argument("vehicle")
    parser.add_argument("name")
    arguments = parser.parse_args()
    try:
        asyncio.run(_run(arguments.uri, arguments.vehicle, arguments.name))
    except TandemError as fault:
        print(fault, file=sys.stderr)
        return fault.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main())
