"""Made cars, fitted: do the intervals hold, is lack of fit seen, do bands hold unseen runs?

Each car has numbers of its own, drawn from what a fit believes (``calibration_cars.py``), and
drives four runs with an odometry that wobbles; a fit sees three. Cars with a fault have one that
the model has no parameter for. Hours for hundreds of cars; make fast and TANDEM_FAST=1 help.

    python -m tests.bench.calibration_study --cars 500 --faulty 200 --jobs 2
    python -m tests.bench.calibration_study --cars 20 --faulty 0 --json
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import norm

from calibration.band import band, driven_steering
from calibration.parameters import PARAMETERS, Parameter
from calibration.replay import Replay, calibrate
from tests.bench.calibration_cars import FAULTS, FITTED, KNOWN, NIGEL, TWIN, Car, car, drives

LEVELS = (0.9, 0.95)


class Case(NamedTuple):
    """What came of one car. ``off``: true less found, in deviations, by parameter."""

    seed: int
    fault: str
    size: float
    off: dict[str, float]
    told: tuple[str, ...]
    p: float
    suspect: str
    is_held: bool
    held_share: float
    band_m: float
    band_rad: float


def study(seed: int, fault: str) -> Case:
    """One car, driven, fitted and predicted."""
    made = car(seed, fault)
    runs = drives(made, seed)
    found = calibrate(NIGEL, runs[:FITTED])
    steering = driven_steering(runs[:FITTED], found.values)
    (unseen,) = runs[FITTED:]
    predicted = TWIN.predict(found.values, unseen)
    shown = Replay(unseen, predicted, predicted, band(TWIN, KNOWN, found, steering, unseen))
    held = shown.held()
    return Case(
        seed,
        fault,
        made.size,
        _off(made, found.values, np.sqrt(np.diag(found.covariance))),
        tuple(one.name for one in found.estimates if one.is_fitted),
        found.lack.p,
        found.lack.suspect,
        bool(held.all()),
        float(np.mean(held)),
        float(shown.band.position_m[-1]) if shown.band else 0.0,
        float(shown.band.yaw_rad[-1]) if shown.band else 0.0,
    )


def _off(made: Car, values: dict[str, float], own: np.ndarray) -> dict[str, float]:
    def belief(p: Parameter, of: dict[str, float]) -> float:
        return p.belief(of[p.name], KNOWN[p.name])

    return {
        p.name: (belief(p, made.values) - belief(p, values)) / float(deviation)
        for p, deviation in zip(PARAMETERS, own, strict=True)
    }


def studies(wanted: Sequence[tuple[int, str]], jobs: int) -> Iterator[Case]:
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
    quantiles = {level: float(norm.ppf(0.5 + 0.5 * level)) for level in LEVELS}
    every = [abs(off) for one in cases for off in one.off.values()]
    told = [abs(one.off[name]) for one in cases for name in one.told]
    return {
        **{
            f"intervals_{100 * level:.0f}_hold": _share(it <= q for it in every)
            for level, q in quantiles.items()
        },
        **{
            f"told_{100 * level:.0f}_hold": _share(it <= q for it in told)
            for level, q in quantiles.items()
        },
        "by_parameter_95": {
            p.name: _share(abs(one.off[p.name]) <= quantiles[0.95] for one in cases)
            for p in PARAMETERS
        },
        "flagged": _share(one.p < 0.05 for one in cases),
        **_bands(cases),
    }


def _faulty(cases: Sequence[Case]) -> dict[str, Any]:
    return {
        "flagged": _share(one.p < 0.05 for one in cases),
        "flagged_by_fault": {
            fault: _share(one.p < 0.05 for one in cases if one.fault == fault)
            for fault in FAULTS
            if any(one.fault == fault for one in cases)
        },
        **_bands(cases),
    }


def _bands(cases: Sequence[Case]) -> dict[str, float]:
    return {
        "unseen_runs_in_band": _share(one.is_held for one in cases),
        "unseen_samples_in_band": float(np.mean([one.held_share for one in cases])),
        "band_m": float(np.median([one.band_m for one in cases])),
        "band_rad": float(np.median([one.band_rad for one in cases])),
    }


def _share(flags: Iterable[bool]) -> float:
    return float(np.mean(list(flags)))


def main(words: Sequence[str] | None = None) -> int:
    """0 when all cars were studied, 130 when somebody stopped it; either way with what there is."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--cars", type=int, default=20, help="that the model can describe (20)")
    parser.add_argument("--faulty", type=int, default=9, help="that it cannot (9), faults by turns")
    parser.add_argument("--first", type=int, default=0, metavar="SEED", help="of the first car (0)")
    parser.add_argument("--jobs", type=int, default=1, help="at once (1)")
    parser.add_argument("--json", action="store_true", help="every car, for a program")
    args = parser.parse_args(words)
    wanted = [(args.first + i, "") for i in range(args.cars)]
    wanted += [(args.first + i, FAULTS[i % len(FAULTS)]) for i in range(args.faulty)]
    cases, code, begun = [], 0, time.monotonic()
    try:
        for one in studies(wanted, args.jobs):
            cases.append(one)
            left = len(wanted) - len(cases)
            rest_s = (time.monotonic() - begun) / len(cases) * left
            said = f"{len(cases)} of {len(wanted)} cars, {rest_s:.0f} s to go"
            print(f"\r{said} ", end="", file=sys.stderr, flush=True)
    except KeyboardInterrupt:
        code = 130
    print(file=sys.stderr)
    found = summary(cases)
    if args.json:
        print(json.dumps({**found, "cases": [one._asdict() for one in cases]}))
    else:
        print("\n".join(_lines(found, "")))
    return code


def _lines(found: dict[str, Any], indent: str) -> Iterator[str]:
    for name, value in found.items():
        if isinstance(value, dict):
            yield f"{indent}{name}"
            yield from _lines(value, indent + "  ")
        else:
            told = f"{value:8.3f}" if isinstance(value, float) else f"{value:8d}"
            yield f"{indent}{name:28}{told}"


if __name__ == "__main__":
    sys.exit(main())
