"""How long a case of a campaign takes one core: ``python tests/bench/bench_a_case.py [--json]``.

An F1TENTH drives 20 s round the corridor by Stanley's law, as plain Python and as machine code, and
with a LIDAR that is looked at: the quickest of several cases in a warm process, as a campaign's
case process runs them. Then what two workers do in the time of one, and how much memory one worker
has that is never replaced.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from itertools import count
from typing import Any

from host_bridge.drive.lockstep.campaign.case import CaseInHand, run_case
from host_bridge.drive.lockstep.campaign.plan import Case
from host_bridge.drive.lockstep.campaign.runners.processes import CaseProcess, CaseRunner
from host_bridge.drive.lockstep.campaign.spec import CHANGES, KEYS, Spec, code_hash
from host_bridge.sharing.services import make_host
from sim_mock.files.keys import REQUIRED
from tests.bench.support.quick import with_machine_code
from tests.bench.support.sheet import Cell, Sheet, publish, verdict
from tests.support.evidence import every

SECONDS = 20.0
ROUNDS = 5
CASES, CORES = 10_000, 2
WITHIN_MIN = {"plain": 75.0, "machine code": 40.0, "machine code, LIDAR": 45.0}
LIDAR = {"plant.lidar.rate_hz": 10.0, "plant.lidar.rays": 270}
EACH, TURNS = 8, 3  # cases of each worker in a round, and rounds: half a minute of two cores
AT_LEAST = 1.9  # two workers, in the time of one
SHORT_S = 0.1  # of the cases of which 10 000 are run for the memory
GROWS_MB = 3.0  # chosen: at most, from the first hundredth to the end; a leak of a case is more
WALL_S = 120.0


def spec_of(seed: int = 0, **changes: Any) -> Spec:
    spec = {key.name: key.default for key in KEYS if key.default is not REQUIRED}
    return {
        **spec,
        "vehicle": "f1tenth",
        "track": "corridor",
        "controller": "path:centre?law=stanley&laps=0",
        "duration_s": SECONDS,
        "speed_mps": 2.0,
        CHANGES: {},
        "oracles": ["completed"],
        "files": {},
        "seed": seed,
        **changes,
    }


def looks(hand: CaseInHand) -> None:
    """Look at the newest scan, as a controller would at each tick."""
    hand.car.sensors().scan()


def cpu_s(has_lidar: bool = False) -> float:
    """The processor time of the quickest case in s."""
    files, changes = make_host().vehicles, LIDAR if has_lidar else {}
    rows = [
        run_case(spec_of(seed, **{CHANGES: changes}), files, looks if has_lidar else None)
        for seed in range(ROUNDS)
    ]
    assert every(row["outcome"] == "passed" for row in rows), rows[0]
    return float(min(row["ran"]["cpu_s"] for row in rows))


def row(name: str, case_s: float | None, share: float) -> tuple[Cell, ...]:
    if case_s is None:
        return (f"a case, {name}", None, None, None, "nothing can be compiled on this machine")
    minutes = case_s * CASES / share / 60.0
    return (
        f"a case, {name}",
        case_s,
        SECONDS / case_s,
        minutes,
        verdict(minutes <= WITHIN_MIN[name]),
    )


def together_s(workers: int) -> float:
    """Wall seconds of a case by so many workers, begun and warm; each has as many cases."""
    rows: list[Any] = []
    ends_s: list[float] = []

    def put(found: Any) -> None:
        rows.append(found)
        ends_s.append(time.perf_counter())

    total = workers * (EACH + 1)
    cases = (Case(i, {}, i, spec_of(i)) for i in range(total))
    CaseRunner(cases, code_hash(), workers, WALL_S).run(put, lambda: None)
    assert every(it["outcome"] == "passed" for it in rows), rows[0]
    # From when each worker has its first case behind it, which has the start in it
    return (ends_s[-1] - ends_s[workers - 1]) / (total - workers)


def resident_mb(process: int) -> float:
    with open(f"/proc/{process}/status", encoding="utf-8") as lines:
        return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS:")) / 1024.0


def memory() -> Sheet:
    """The memory of one case process over many short cases."""
    worker, found, at = CaseProcess(WALL_S, ()), [], {CASES // 100, CASES // 10, CASES}
    spec = spec_of(duration_s=SHORT_S)
    for number in count(1):
        told = worker.ask({**spec, "seed": number})
        assert told["outcome"] == "passed", told
        if number in at:
            found.append((number, resident_mb(told["ran"]["worker"])))
        if number == CASES:
            break
    worker.end()
    grown_mb = found[-1][1] - found[0][1]
    return Sheet(
        f"Memory of one worker that is never replaced, in cases of {SHORT_S:g} s",
        ("cases", "MB", "aim"),
        [
            (number, mb, verdict(grown_mb <= GROWS_MB) if number == CASES else None)
            for number, mb in found
        ],
        (f"{grown_mb:+.1f} MB from the first hundredth to the end; {GROWS_MB:g} at most",),
    )


def workers() -> tuple[Sheet, float]:
    """Two workers beside one, by turns; and how many of one two are."""
    took = [(together_s(1), together_s(2)) for _ in range(TURNS)]
    one_s, two_s = (min(each) for each in zip(*took, strict=True))
    share = one_s / two_s
    rows = [
        ("one worker", 1.0 / one_s, None, None),
        ("two workers", 1.0 / two_s, share, verdict(share >= AT_LEAST)),
    ]
    title = f"Cases a second of the wall, {EACH} for each worker, the best of {TURNS} rounds"
    return Sheet(title, ("", "cases/s", "times one", f"aim: {AT_LEAST:g}"), rows), share


def measure() -> Iterator[Sheet]:
    plain_s = cpu_s()
    quick_s, lidar_s = (
        with_machine_code("tests.bench.bench_a_case", "--alone", *words)
        for words in ((), ("--lidar",))
    )
    sheet, share = workers()
    yield Sheet(
        f"A case: {SECONDS:g} s of an F1TENTH on a track, one core",
        ("", "s", "times real time", f"min for {CASES} on {CORES} cores", "aim"),
        (
            row("plain", plain_s, share),
            row("machine code", quick_s, share),
            row("machine code, LIDAR", lidar_s, share),
        ),
        (
            *(f"{name}: {most:g} min at most" for name, most in WITHIN_MIN.items()),
            "LIDAR: turns at 10 Hz of 270 rays, each computed and handed over in memory",
            f"minutes: extrapolated from {ROUNDS} cases, by the {share:.2f} of two workers below",
        ),
    )
    yield sheet
    yield memory()


if __name__ == "__main__":
    if "--alone" in sys.argv:
        print(json.dumps(cpu_s("--lidar" in sys.argv)))
    else:
        publish("a case", measure)
