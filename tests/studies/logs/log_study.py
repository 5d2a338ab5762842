"""Made cars, calibrated from logs that each lack something: do the intervals hold, what is told?

Each car has numbers of its own (``log_cars.py``) and drives a log of each kind; its numbers are
found by ``tandem calibrate``'s own work. Two shares are printed for each kind: of the intervals
that were told, how many hold the truth; and of the parameters for which the kind of drive
suffices, how many were told. In ``right`` a parameter for which the drive suffices and that was
not told counts as one that does not hold.

    python -m tests.studies.logs.log_study --cars 1000 --into logs.jsonl
    python -m tests.studies.logs.log_study --cars 1 --first 7 --kinds "motion capture" --show
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import Any, NamedTuple

from scipy.stats import norm

from calibration.parameters import Estimate
from calibration.regression.identify import identify
from sim_mock.runtime import compiled
from tests.studies.logs.log_cars import KINDS, LoggedCar, drive_logs, logged_car
from tests.support.kept_rows import KeptRows, sources_of
from tests.support.shares import Share, share_by_car

LEVEL = 0.9
SOURCES = (
    *("calibration/arrays.py", "calibration/logs/t*.py", "calibration/regression/*.py"),
    *(
        "calibration/simulation/board_loop.py",
        "sim_mock/plant/*.py",
        "tests/studies/logs/log_cars.py",
    ),
)
LASTS_S = 40.0  # of driving
NAMES = sorted(frozenset().union(*(kind.tells for kind in KINDS.values())))
_HALF = float(norm.ppf(0.975))  # a finding's interval is one of 95 %

Key = tuple[int, str]  # seed and kind


class Told(NamedTuple):
    """One parameter of one car. ``level``: the confidence of the interval that just holds it."""

    true: list[float]
    value: float
    low: float
    high: float
    level: float


class LogCase(NamedTuple):
    """One car of one kind: what was told, and why the rest was not."""

    seed: int
    kind: str
    told: dict[str, Told]
    silent: dict[str, str]
    cpu_s: float


def study(seed: int, kind: str) -> LogCase:
    """Drive one car and find its numbers."""
    begun_s = time.process_time()
    made = logged_car(seed, kind)
    found = identify(drive_logs(made, seed, LASTS_S), made.vehicle())
    findings = [found.estimate(name) for name in NAMES]
    told = {one.name: _told(made, one) for one in findings if one.is_estimated}
    silent = {one.name: one.why for one in findings if not one.is_estimated}
    return LogCase(seed, kind, told, silent, time.process_time() - begun_s)


def _told(made: LoggedCar, one: Estimate) -> Told:
    truths = made.truths(one.name)
    return Told(truths, one.value, one.low, one.high, max(_level(one, true) for true in truths))


def _level(one: Estimate, true: float) -> float:
    """Return the confidence at which the interval would just reach this value."""
    half = one.high - one.value if true > one.value else one.value - one.low
    if true in (one.low, one.high):  # the end of what is plausible
        return 0.0
    return float(2.0 * norm.cdf(_HALF * abs(true - one.value) / half) - 1.0) if half > 0.0 else 1.0


class Kept(KeptRows):
    """Cars that were studied before, and those to come."""

    def __init__(self, path: Path) -> None:
        super().__init__(path, sources_of(SOURCES))
        self.cases = {(row["seed"], row["kind"]): _case(row) for row in self.rows}


def _case(row: Mapping[str, Any]) -> LogCase:
    told = {name: Told(**one) for name, one in row["told"].items()}
    return LogCase(**{**row, "told": told})


def plain(case: LogCase) -> dict[str, Any]:
    return {**case._asdict(), "told": {name: one._asdict() for name, one in case.told.items()}}


def summary(cases: Sequence[LogCase]) -> dict[str, dict[str, Any]]:
    """Return the shares by kind of log."""
    return {
        kind: _of_kind([one for one in cases if one.kind == kind])
        for kind in KINDS
        if any(one.kind == kind for one in cases)
    }


def _of_kind(cases: Sequence[LogCase]) -> dict[str, Any]:
    tells = KINDS[cases[0].kind].tells
    return {
        "cars": len(cases),
        "hold": share_by_car([[_holds(it) for it in one.told.values()] for one in cases]),
        "told": share_by_car([[name in one.told for name in tells] for one in cases]),
        "right": share_by_car([
            [*(_holds(it) for it in one.told.values()), *(False for _ in tells - {*one.told})]
            for one in cases
        ]),
        "by_parameter": {
            name: {
                "hold": share_by_car([
                    [_holds(one.told[name])] for one in cases if name in one.told
                ]),
                "told": share_by_car([[name in one.told] for one in cases]),
                "suffices": name in tells,
            }
            for name in NAMES
        },
    }  # fmt: skip


def _holds(one: Told) -> bool:
    return one.level <= LEVEL


def lines(found: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """Yield the table: a line for each kind, and one for each of its parameters."""
    yield f"{'':26}{'90 % intervals hold':>30}{'told where it suffices':>30}"
    for kind, row in found.items():
        head = f"{kind} ({row['cars']})"
        yield f"{head:26}{_shown(row['hold']):>30}{_shown(row['told']):>30}"
        for name, one in row["by_parameter"].items():
            told = _shown(one["told"]) + ("" if one["suffices"] else " -")
            yield f"  {name:24}{_shown(one['hold']):>30}{told:>30}"
        yield f"  {'right, silence is wrong':24}{_shown(row['right']):>30}"


def _shown(one: Share) -> str:
    return f"{one.share:.3f} ({one.low:.3f} to {one.high:.3f})" if one.of else "-"


def studies(wanted: Sequence[Key], jobs: int) -> Iterator[LogCase]:
    """Yield the cases as they are done."""
    if jobs == 1:
        for one in wanted:
            yield study(*one)
        return
    with ProcessPoolExecutor(jobs) as pool:
        futures = [pool.submit(study, *one) for one in wanted]
        try:
            for done in as_completed(futures):
                yield done.result()
        except KeyboardInterrupt:
            pool.shutdown(cancel_futures=True)
            raise


def main(words: Sequence[str] | None = None) -> int:
    """Return 0 when all cars were studied, 130 when somebody stopped it; print what there is."""
    args = _parser().parse_args(words)
    wanted = [(args.first + i, kind) for i in range(args.cars) for kind in args.kinds]
    kept = Kept(args.into) if args.into else None
    cases = [kept.cases[key] for key in wanted if kept and key in kept.cases]
    schedule = [key for key in wanted if not (kept and key in kept.cases)]
    if kept and (cases or kept.others):
        print(f"{args.into}: {len(cases)} logs are there, {kept.others} of other sources are "
              "left out", file=sys.stderr)  # fmt: skip
    code = _work(schedule, args, kept, cases)
    found = summary(cases)
    if args.json:
        print(json.dumps(found))
    else:
        print("\n".join(lines(found)))
    return code


def _work(
    schedule: Sequence[Key], args: argparse.Namespace, kept: Kept | None, cases: list[LogCase]
) -> int:
    """Study the cars of the schedule into ``cases``; return 130 if it was stopped."""
    begun_s = time.monotonic()
    try:
        for count, one in enumerate(studies(schedule, args.jobs), 1):
            cases.append(one)
            if kept:
                kept.add(plain(one))
            if args.show:
                print("\n".join(_table(one)))
            rest_s = (time.monotonic() - begun_s) / count * (len(schedule) - count)
            said = f"{count} of {len(schedule)} logs, {rest_s:.0f} s to go"
            print(f"\r{said} ", end="", file=sys.stderr, flush=True)
    except KeyboardInterrupt:
        return 130
    finally:
        print(file=sys.stderr)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--cars", type=int, default=20, help="of each kind (20)")
    parser.add_argument("--first", type=int, default=0, metavar="SEED", help="of the first car (0)")
    parser.add_argument("--kinds", nargs="+", choices=[*KINDS], default=[*KINDS], help="(all)")
    parser.add_argument("--jobs", type=int, default=1, help="at once (1)")
    parser.add_argument("--into", type=Path, metavar="FILE", help="keep each car, and go on there")
    parser.add_argument("--show", action="store_true", help="each parameter of each car")
    parser.add_argument("--json", action="store_true", help="the shares, for a program")
    return parser


def _table(case: LogCase) -> Iterator[str]:
    yield f"{case.kind}, seed {case.seed}"
    for name, one in case.told.items():
        true = ", ".join(f"{it:.4g}" for it in one.true)
        found = f"{one.value:10.4g}{one.low:10.4g}{one.high:10.4g}{one.level:7.2f}"
        yield f"  {name:24}{true:>18}{found}"
    for name, why in case.silent.items():
        yield f"  {name:24}not told: {why}"


if __name__ == "__main__":
    compiled.use_if_built()
    sys.exit(main())
