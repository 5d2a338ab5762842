"""Hidden cars, driven and found by ``tandem calibrate --guide``: do its intervals hold?

Each car is a virtual one of a type of vehicle whose numbers differ from its file's by what a seed
draws; a person who answers reads the tape to a centimetre. Minutes for a car.

    python -m tests.studies.logs.guide_study --cars 12
    python -m tests.studies.logs.guide_study --cars 1 --first 7 --show
"""

from __future__ import annotations

import argparse
import builtins
import contextlib
import io
import json
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Sequence
from math import hypot
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.stats import binomtest

from calibration.files.calibration_file import read_calibration
from host_bridge.cli import main as cli
from tests.calibration.hidden import HiddenCar

VEHICLES = ("f1tenth", "f1tenth_vesc", "nigel")


class StudiedParameter(NamedTuple):
    """One parameter of one car; nan where it is not told."""

    true: float
    value: float
    low: float
    high: float

    @property
    def is_held(self) -> bool:
        return self.low <= self.true <= self.high


def hidden(seed: int) -> HiddenCar:
    """A car as people build them: some percent, a trim, a servo that is late."""
    rng = np.random.default_rng([seed, 11])
    return HiddenCar(
        VEHICLES[seed % len(VEHICLES)],
        counts=float(rng.uniform(0.9, 1.1)),
        trim=float(rng.uniform(-0.2, 0.2)),
        left=float(rng.uniform(0.75, 1.1)),
        right=float(rng.uniform(0.75, 1.1)),
        delay_s=float(rng.uniform(0.01, 0.1)),
        lag_s=float(rng.uniform(0.02, 0.1)),
        speed=float(rng.uniform(0.8, 1.15)),
        dead=float(rng.uniform(0.8, 2.0)),
    )


def answer(question: str, sensors: Path) -> str:
    """What a person says; the tape goes from where the car stood to where it stands."""
    if "metres" not in question:
        return "y"
    lines = sensors.read_text().splitlines()
    truths = [json.loads(line)["truth"] for line in lines if '"sensor": "truth"' in line]
    first, last = truths[0], truths[-1]
    return f"{hypot(last['x_m'] - first['x_m'], last['y_m'] - first['y_m']):.2f}"


def guided(car: HiddenCar, seed: int, folder: Path) -> dict[str, StudiedParameter]:
    """By the names of the parameters; raises what the command raises."""
    file, sensors = car.write(folder / "hidden.toml"), folder / "sensors.jsonl"
    uri = f"sim://{car.vehicle}?seed={seed}&calibration={file}&sensors={sensors}"
    asked, builtins.input = builtins.input, lambda question="": answer(question, sensors)
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            code = cli.main(["calibrate", "--guide", str(folder / "guide"), "--car", uri])
    finally:
        builtins.input = asked
    if code:
        raise SystemExit(f"tandem calibrate --guide ended with {code} for seed {seed}")
    found = {
        one.name: one for one in read_calibration(folder / "guide" / "calibration.toml").estimates
    }
    return {
        name: StudiedParameter(true, found[name].value, found[name].low, found[name].high)
        for name, true in car.truth().items()
    }


def main(words: Sequence[str] | None = None) -> int:
    """0 when all cars were guided, 130 when somebody stopped it."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--cars", type=int, default=3, help="kinds of car by turns (3)")
    parser.add_argument("--first", type=int, default=0, metavar="SEED", help="of the first car (0)")
    parser.add_argument("--show", action="store_true", help="each parameter of each car")
    args = parser.parse_args(words)
    by_name: dict[str, list[StudiedParameter]] = defaultdict(list)
    code = 0
    try:
        for seed in range(args.first, args.first + args.cars):
            with tempfile.TemporaryDirectory() as folder:
                car = hidden(seed)
                found = guided(car, seed, Path(folder))
            for name, one in found.items():
                by_name[name].append(one)
            missed = [f"{name} {one}" for name, one in found.items() if not one.is_held]
            shown = [f"{name} {one}" for name, one in found.items()] if args.show else missed
            held = f"{len(found) - len(missed)} of {len(found)} held"
            print(f"seed {seed} {car.vehicle}: {held}", *shown, sep="\n  ", flush=True)
    except KeyboardInterrupt:
        code = 130
    print(*lines(by_name), sep="\n")
    return code


def lines(by_name: dict[str, list[StudiedParameter]]) -> Iterator[str]:
    """The counts, with the intervals of Clopper and Pearson."""
    every = [one for some in by_name.values() for one in some]
    for name, some in (*by_name.items(), ("all", every)):
        told = [one for one in some if np.isfinite(one.value)]
        held = sum(one.is_held for one in told)
        if told:
            low, high = binomtest(held, len(told)).proportion_ci(0.95)
            sure = f"{held / len(told):.3f} ({low:.3f} to {high:.3f})"
            yield f"{name:20} told {len(told):3} of {len(some):3}, held {held:3}: {sure}"
        else:
            yield f"{name:20} told   0 of {len(some):3}"


if __name__ == "__main__":
    sys.exit(main())
