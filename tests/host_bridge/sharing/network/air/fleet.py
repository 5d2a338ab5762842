"""Stops of a fleet through bad air: ``python -m tests.host_bridge.sharing.network.air.fleet``.

Eight cars on eight hosts, and a ninth that stops them, 10 % of all datagrams lost at each host.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from tests.host_bridge.sharing.network.air.field import Login, Program, served
from tests.host_bridge.sharing.network.air.hub import Hub, both_ways
from tests.host_bridge.sharing.network.air.measured import quantile
from tests.ros.reaction.impairment import LineSettings
from tests.ros.reaction.line import why_not

CALLS_PROGRAM = Path(__file__).with_name("fleet_calls.py")
CARS, CALLS, SEED = 8, 300, 35
LONGEST_S = 1800.0
NEVER_MS = 1e9
AIR = LineSettings(loss=0.1, delay_s=0.003)


@contextmanager
def fleet_of(hub: Hub, folder: Path, fleets: list[str]) -> Iterator[list[Login]]:
    """A car on each host but the last, of these fleets; yields the logins of all hosts."""
    logins = [Login(host, folder / str(place)) for place, host in enumerate(hub.hosts)]
    with ExitStack() as cars:
        for place, fleet in enumerate(fleets):
            name = f"car{place}"
            uri = f"sim://nigel?name={name}"
            cars.enter_context(served(logins[place], uri, name, "0.0.0.0", "--fleet", fleet))
        yield logins


def call(login: Login, fleet: str, calls: int) -> list[dict[str, list[float | None]]]:
    """Stop a fleet so often; return for each call what the cars said, and when."""
    words = login.host.words(sys.executable, str(CALLS_PROGRAM), fleet, str(calls))
    program = Program(words, login.environment)
    assert program.wait(60.0 + 2.0 * calls) == 0, program.told()
    return [json.loads(line) for line in program.lines]


def main() -> None:
    parser = argparse.ArgumentParser(description="Stops of a fleet through bad air.")
    parser.add_argument("--calls", type=int, default=CALLS)
    asked = parser.parse_args()
    missing = why_not()
    if missing:
        raise SystemExit(f"not measured: {missing}")
    with (
        tempfile.TemporaryDirectory(prefix="air-") as folder,
        Hub(SEED, CARS + 1, LONGEST_S) as hub,
        fleet_of(hub, Path(folder), ["red"] * CARS) as logins,
    ):
        for place in range(CARS + 1):
            both_ways(hub, place, AIR)
        rows = call(logins[-1], "red", asked.calls)
    last = [max((it[1] or NEVER_MS for it in row.values()), default=NEVER_MS) for row in rows]
    missing_cars = sum(CARS - len(row) for row in rows)
    print(
        f"{asked.calls} stops of {CARS} cars, 10 % lost at each host, 3 ms: all had answered after "
        f"p50 {quantile(last, 0.5):.0f} ms, p99 {quantile(last, 0.99):.0f} ms, "
        f"worst {max(last):.0f} ms; {missing_cars} cars never"
    )


if __name__ == "__main__":
    main()
