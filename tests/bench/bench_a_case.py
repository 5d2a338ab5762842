"""How long a case of a campaign takes one core: ``python tests/bench/bench_a_case.py [--json]``.

An F1TENTH drives 20 s round the corridor by Stanley's law, as plain Python and as machine code: the
quickest of several cases in a warm process, as a campaign's case process runs them.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator

from host_bridge.drive.lockstep.campaign.case import run_case
from host_bridge.drive.lockstep.campaign.spec import CHANGES, KEYS
from host_bridge.sharing.services import make_host
from sim_mock.files.keys import REQUIRED
from tests.bench.support.quick import with_machine_code
from tests.bench.support.sheet import Cell, Sheet, publish, verdict
from tests.support.evidence import every

SECONDS = 20.0
ROUNDS = 5
CASES, CORES = 10_000, 2
WITHIN_MIN = {"plain": 75.0, "machine code": 40.0}  # of 10 000 cases on two cores


def cpu_s() -> float:
    """The processor time of the quickest case in s."""
    spec = {key.name: key.default for key in KEYS if key.default is not REQUIRED}
    spec |= {
        "vehicle": "f1tenth",
        "track": "corridor",
        "controller": "path:centre?law=stanley&laps=0",
        "duration_s": SECONDS,
        "speed_mps": 2.0,
        CHANGES: {},
        "oracles": ["completed"],
        "files": {},
    }
    files = make_host().vehicles
    rows = [run_case({**spec, "seed": seed}, files) for seed in range(ROUNDS)]
    assert every(row["outcome"] == "passed" for row in rows), rows[0]
    return float(min(row["ran"]["cpu_s"] for row in rows))


def row(name: str, case_s: float | None) -> tuple[Cell, ...]:
    if case_s is None:
        return (f"a case, {name}", None, None, None, "nothing can be compiled on this machine")
    minutes = case_s * CASES / CORES / 60.0
    return (
        f"a case, {name}",
        case_s,
        SECONDS / case_s,
        minutes,
        verdict(minutes <= WITHIN_MIN[name]),
    )


def measure() -> Iterator[Sheet]:
    yield Sheet(
        f"A case: {SECONDS:g} s of an F1TENTH on a track, one core",
        ("", "s", "times real time", f"min for {CASES} on {CORES} cores", "aim"),
        (
            row("plain", cpu_s()),
            row("machine code", with_machine_code("tests.bench.bench_a_case", "--alone")),
        ),
        tuple(f"{name}: {most:g} min at most" for name, most in WITHIN_MIN.items()),
    )


if __name__ == "__main__":
    if "--alone" in sys.argv:
        print(json.dumps(cpu_s()))
    else:
        publish("a case", measure)
