"""The table of drives through bad air: ``python -m tests.host_bridge.sharing.network.air``.

``--only TEXT`` plays what has the text in its name; ``--json`` prints one row a line.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from pathlib import Path

from rich.console import Console

from tests.bench.support.sheet import Sheet, show
from tests.host_bridge.sharing.network.air.hub import Hub
from tests.host_bridge.sharing.network.air.playing import Field, Result
from tests.host_bridge.sharing.network.air.scenarios import SCENARIOS
from tests.ros.reaction.line import why_not

SEED = 35
LONGEST_S = 3600.0
WIDTH = 150  # columns of a terminal
COLUMNS = (
    "air", "claims taken", "claim p50", "p99", "to its status p50", "p99", "bare echo p50", "p99",
    "stops", "end to STOPPING", "m to rest",
)  # fmt: skip


def row(result: Result) -> list[str | float | int | None]:
    if not result.drove:
        ended = "stopped at its start" if result.stops else "refused"
        return [result.scenario, ended, *[None] * (len(COLUMNS) - 2)]
    halt = result.halt
    return [
        result.scenario, f"{100 * result.accepted / result.claims:.1f} %",
        result.way_p50_ms, result.way_p99_ms, result.trip_p50_ms, result.trip_p99_ms,
        result.echo_p50_ms, result.echo_p99_ms, result.stops,
        halt and halt.begins_ms, halt and halt.metres,
    ]  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description="Drives through bad air, as a table.")
    parser.add_argument("--only", default="", help="a part of a scenario's name")
    parser.add_argument("--json", action="store_true", help="one row of JSON a line")
    asked = parser.parse_args()
    missing = why_not()
    if missing:
        raise SystemExit(f"not measured: {missing}")
    results = []
    with tempfile.TemporaryDirectory(prefix="air-") as folder, Hub(SEED, 2, LONGEST_S) as hub:
        field = Field(hub, Path(folder))
        for scenario in SCENARIOS:
            if asked.only not in scenario.name:
                continue
            result = field.play(scenario)
            results.append(result)
            if asked.json:
                print(json.dumps(result.plain()), flush=True)
    if not results:
        raise SystemExit(f"no scenario has {asked.only!r} in its name")
    if not asked.json:
        title = "An F1TENTH at 1.5 m/s, driven by a guest (ms; m)"
        show(Sheet(title, COLUMNS, list(map(row, results))), Console(width=WIDTH))


if __name__ == "__main__":
    main()
