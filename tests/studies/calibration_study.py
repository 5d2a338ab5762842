"""Made cars, fitted: do the intervals hold, is lack of fit seen, do bands hold unseen runs?

Each car has numbers of its own, drawn from the priors of the fit (``calibration_cars.py``), and
drives four runs with a noisy odometry; a fit sees three. Cars with a fault have one that
the model has no parameter for. A car takes seconds with make fast and TANDEM_FAST=1, and four times
as long without. With --into every car is kept as it is done, and the same words again go on.

    python -m tests.studies.calibration_study --cars 500 --faulty 200 --into cars.jsonl
    python -m tests.studies.calibration_study --cars 1 --faulty 0 --first 7 --show
    python -m tests.studies.calibration_study --cars 20 --faulty 0 --json
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from calibration.bayesian_fit.estimates import LEVEL, Fit
from calibration.bayesian_fit.parameters import FIT_PARAMETERS
from calibration.bayesian_fit.run_fit import fit_runs
from calibration.replay.band import band
from calibration.replay.replay import Replay
from tests.studies.calibration_cars import FAULTS, FITTED, KNOWN, NIGEL, TWIN, Car, car, drives
from tests.support.kept_rows import KeptRows, sources_of
from tests.support.shares import Share, share, share_by_car

LEVELS = (0.9, 0.95)
SOURCES = ("calibration/**/*.py", "sim_mock/plant/*.py", "tests/studies/calibration_cars.py")

Key = tuple[int, str]  # seed and fault


class Row(NamedTuple):
    """One parameter of one car, its 95 % interval ``low`` to ``high``.

    ``off``: true less found, in deviations. ``level``: the confidence of the interval that just
    holds the truth. ``is_fitted``: the runs tell of it.
    """

    true: float
    found: float
    low: float
    high: float
    off: float
    level: float
    is_fitted: bool


class Case(NamedTuple):
    """What came of one car."""

    seed: int
    fault: str
    size: float
    rows: dict[str, Row]
    p: float
    suspect: str
    is_held: bool
    held_share: float
    band_m: float
    band_rad: float
    cpu_s: float


def study(seed: int, fault: str) -> Case:
    """One car, driven, fitted and predicted."""
    begun_s = time.process_time()
    made = car(seed, fault)
    runs = drives(made, seed)
    found = fit_runs(NIGEL, runs[:FITTED])
    (unseen,) = runs[FITTED:]
    predicted = TWIN.predict(found.values, unseen)
    there = band(TWIN, KNOWN, found, unseen)
    is_inside = Replay(unseen, predicted, predicted, there).is_inside()
    return Case(
        seed,
        fault,
        made.size,
        dict(_rows(made, found)),
        found.lack_of_fit.p,
        found.lack_of_fit.suspect,
        bool(is_inside.all()),
        float(np.mean(is_inside)),
        float(there.position_m[-1]),
        float(there.yaw_rad[-1]),
        time.process_time() - begun_s,
    )


def _rows(made: Car, found: Fit) -> Iterator[tuple[str, Row]]:
    deviations = np.sqrt(np.diag(found.covariance))
    columns = zip(FIT_PARAMETERS, found.estimates, found.marginals, deviations, strict=True)
    for p, one, marginal, deviation in columns:
        true = made.values[p.name]
        place = p.standardised(true, KNOWN[p.name])
        off = (place - p.standardised(one.value, KNOWN[p.name])) / float(deviation)
        level = marginal.level(place)
        yield p.name, Row(true, one.value, one.low, one.high, off, level, one.is_fitted)


def studies(wanted: Sequence[Key], jobs: int) -> Iterator[Case]:
    """As they are done."""
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


class Kept(KeptRows):
    """Cars that were studied before, and those to come."""

    def __init__(self, path: Path) -> None:
        super().__init__(path, sources())
        self.cases: dict[Key, Case] = {}
        for row in self.rows:
            rows = {name: Row(**one) for name, one in row.pop("rows").items()}
            case = Case(rows=rows, **row)
            self.cases[case.seed, case.fault] = case

    def keep(self, case: Case) -> None:
        """At once, so that nothing is lost."""
        self.cases[case.seed, case.fault] = case
        self.add(_plain(case))


def sources() -> str:
    """Of all that a car's result hangs on."""
    return sources_of(SOURCES)


def _plain(case: Case) -> dict[str, Any]:
    return {**case._asdict(), "rows": {name: row._asdict() for name, row in case.rows.items()}}


def summary(cases: Sequence[Case]) -> dict[str, Any]:
    """Shares, by kind of car."""
    good = [one for one in cases if not one.fault]
    bad = [one for one in cases if one.fault]
    return {
        "cars": len(good),
        **({"sound": _sound(good)} if good else {}),
        "faulty_cars": len(bad),
        **({"faulty": _faulty(bad)} if bad else {}),
    }


def _sound(cases: Sequence[Case]) -> dict[str, Any]:
    def holding(level: float, is_in: Callable[[Row], bool]) -> Share:
        return share_by_car(
            [[row.level <= level for row in one.rows.values() if is_in(row)] for one in cases]
        )

    return {
        **{f"intervals_{100 * level:.0f}_hold": holding(level, lambda _: True) for level in LEVELS},
        **{
            f"fitted_{100 * level:.0f}_hold": holding(level, lambda row: row.is_fitted)
            for level in LEVELS
        },
        "by_parameter_90": {
            p.name: share(one.rows[p.name].level <= LEVELS[0] for one in cases)
            for p in FIT_PARAMETERS
        },
        "flagged": share(one.p < LEVEL for one in cases),
        **_bands(cases),
    }


def _faulty(cases: Sequence[Case]) -> dict[str, Any]:
    return {
        "flagged": share(one.p < LEVEL for one in cases),
        "flagged_by_fault": {
            fault: share(one.p < LEVEL for one in cases if one.fault == fault)
            for fault in FAULTS
            if any(one.fault == fault for one in cases)
        },
        **_bands(cases),
    }


def _bands(cases: Sequence[Case]) -> dict[str, Any]:
    return {
        "unseen_runs_in_band": share(one.is_held for one in cases),
        "unseen_samples_in_band": float(np.mean([one.held_share for one in cases])),
        "band_m": float(np.median([one.band_m for one in cases])),
        "band_rad": float(np.median([one.band_rad for one in cases])),
        "cpu_s": float(np.median([one.cpu_s for one in cases])),
    }


def main(words: Sequence[str] | None = None) -> int:
    """0 when all cars were studied, 130 when somebody stopped it; either way with what there is."""
    args = _parser().parse_args(words)
    wanted = [(args.first + i, "") for i in range(args.cars)]
    wanted += [(args.first + i, FAULTS[i % len(FAULTS)]) for i in range(args.faulty)]
    kept = Kept(args.into) if args.into else None
    cases = [kept.cases[key] for key in wanted if key in kept.cases] if kept else []
    schedule = [key for key in wanted if not (kept and key in kept.cases)]
    if kept and (cases or kept.others):
        old = f", {kept.others} of other sources are left out" if kept.others else ""
        print(f"{args.into}: {len(cases)} cars are there{old}", file=sys.stderr)
    code, begun_s = 0, time.monotonic()
    try:
        for count, one in enumerate(studies(schedule, args.jobs), 1):
            cases.append(one)
            if kept:
                kept.keep(one)
            if args.show:
                print("\n".join(_table(one)))
            left = len(schedule) - count
            rest_s = (time.monotonic() - begun_s) / count * left
            said = f"{len(cases)} of {len(wanted)} cars, {rest_s:.0f} s to go"
            print(f"\r{said} ", end="", file=sys.stderr, flush=True)
    except KeyboardInterrupt:
        code = 130
    print(file=sys.stderr)
    found = summary(cases)
    if args.json:
        print(json.dumps({**_named(found), "cases": [_plain(one) for one in cases]}))
    else:
        print("\n".join(_lines(found, "")))
    return code


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--cars", type=int, default=20, help="that the model can describe (20)")
    parser.add_argument("--faulty", type=int, default=9, help="that it cannot (9), faults by turns")
    parser.add_argument("--first", type=int, default=0, metavar="SEED", help="of the first car (0)")
    parser.add_argument("--jobs", type=int, default=1, help="at once (1)")
    parser.add_argument("--into", type=Path, metavar="FILE", help="keep each car, and go on there")
    parser.add_argument("--show", action="store_true", help="each parameter of each car")
    parser.add_argument("--json", action="store_true", help="every car, for a program")
    return parser


def _table(case: Case) -> Iterator[str]:
    yield f"seed {case.seed} {case.fault or 'sound'}, lack of fit p = {case.p:.2g} {case.suspect}"
    yield f"  {'':24}{'true':>10}{'found':>10}{'low':>10}{'high':>10}{'off':>7}{'level':>7}"
    for name, row in case.rows.items():
        numbers = "".join(f"{one:10.4g}" for one in row[:4])
        yield f"  {name:24}{numbers}{row.off:7.2f}{row.level:7.2f}"
    yield f"  the unseen run is {'' if case.is_held else 'not '}in its band"


def _named(found: dict[str, Any]) -> dict[str, Any]:
    return {
        name: one._asdict()
        if isinstance(one, Share)
        else _named(one)
        if isinstance(one, dict)
        else one
        for name, one in found.items()
    }


def _lines(found: dict[str, Any], indent: str) -> Iterator[str]:
    for name, value in found.items():
        if isinstance(value, dict):
            yield f"{indent}{name}"
            yield from _lines(value, indent + "  ")
        elif isinstance(value, Share):
            sure = f"({value.low:.3f} to {value.high:.3f}, of {value.of})"
            yield f"{indent}{name:28}{value.share:8.3f}  {sure}"
        else:
            told = f"{value:8.3f}" if isinstance(value, float) else f"{value:8d}"
            yield f"{indent}{name:28}{told}"


if __name__ == "__main__":
    sys.exit(main())
