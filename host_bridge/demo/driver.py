"""A host to be killed: a program that owns one car and drives it as it is told on standard input.

Prints one line of JSON for each status, 50 a second. Commands: ``arm``, ``speed M_PER_S``,
``release``, ``hold``, ``freeze``, ``quit``.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys

from host_bridge.demo.crew import Crew
from host_bridge.errors import TandemError
from host_bridge.interfaces.manoeuvres import Constant
from host_bridge.services import make_host

_REPORT_EVERY_S = 0.02
_FOR_EVER_S = 3600.0


async def drive(uri: str, vehicle: str, name: str) -> None:
    """Until ``quit``, or until nobody tells it any more."""
    host = make_host()
    crew = Crew(host, host.vehicles.load(vehicle), {name: host.cars.transport(uri)})
    try:
        await crew.start()
        reporting = asyncio.create_task(_report(crew))
        await _obey(crew)
        reporting.cancel()
    finally:
        await crew.close()


async def _report(crew: Crew) -> None:
    car = crew.fleet.cars[0]
    while True:
        status = car.status
        if status:
            line = {
                "state": status.state.name,
                "speed_mps": status.speed_mps,
                "causes": [cause.name for cause in status.causes],
                "is_known": car.is_known(),
                "why": car.why_stopped(),
            }
            print(json.dumps(line), flush=True)
        await asyncio.sleep(_REPORT_EVERY_S)


async def _obey(crew: Crew) -> None:
    reader = asyncio.StreamReader()
    loop = asyncio.get_running_loop()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    while line := await reader.readline():
        word, _, rest = line.decode().strip().partition(" ")
        if word == "quit":
            return
        await _do(crew, word, rest)


async def _do(crew: Crew, word: str, rest: str) -> None:
    if word == "arm":
        await crew.arm()
    elif word == "speed":
        crew.puppet.take(Constant(float(rest), _FOR_EVER_S))
    elif word == "release":
        crew.puppet.let_go()
    elif word == "hold":
        crew.puppet.is_held = True
    elif word == "freeze":
        crew.puppet.is_frozen = True


def main() -> int:
    """The exit code is that of the error, if there was one."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("uri")
    parser.add_argument("vehicle")
    parser.add_argument("name")
    arguments = parser.parse_args()
    try:
        asyncio.run(drive(arguments.uri, arguments.vehicle, arguments.name))
    except TandemError as fault:
        print(fault, file=sys.stderr)
        return fault.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main())
