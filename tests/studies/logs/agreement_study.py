"""Made estimates of several logs of one car: do intervals hold where the car differs by run?

No car is driven: each log's estimate is drawn, with a noise that the log knows and a run that
differs from the mean of all runs by ``apart`` times that noise. Of sets of logs that do not
disagree the table has how many 90 % intervals hold the mean, how many of the 95 % that are told,
and the median of their width by that of the noise alone. Sets that disagree are not told.

    python -m tests.studies.logs.agreement_study --sets 500
    python -m tests.studies.logs.agreement_study --sets 500 --costs 1 --unequal 2
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from calibration.parameters import BY_NAME, Estimate
from calibration.regression import agreement

LOGS = (2, 3, 4, 6, 8)
APART = (0.0, 0.5, 1.0, 2.0, 4.0)  # deviation from run to run, by a log's noise
# What logs tell, one of each group that is not told without the others. As a real set of logs has
# many, two of its logs may differ by more until chance does not explain it.
NAMES = (
    *("counts_per_m", "steer_gain_left", "steer_delay_s", "steer_lag_s", "steer_play_rad"),
    *("full_effort_mps", "start_delay_s", "imu_yaw_rad", "understeer_s2_per_m2"),
)
_NOISE = 1e-4  # of what is plausible: so little that no interval ends there
_HALVES, _HALVES_90 = 1.96, 1.645  # deviations of a normal distribution in half an interval
_WELL = 0.5  # of the sets: where fewer are told they are those whose logs are alike by chance


class Cell(NamedTuple):
    """The shares of one number of logs and one deviation from run to run."""

    logs: int
    apart: float
    sets: int
    told: int
    hold_90: float
    hold_95: float
    width: float


class Made(NamedTuple):
    """A parameter of one set of logs: the true mean, what all say together, and each alone."""

    mean: float
    together: Estimate
    alone: list[Estimate]


def cell(logs: int, apart: float, sets: int, unequal: float) -> Cell:
    """Draw so many sets of logs and combine each; noises differ by up to ``unequal`` both ways."""
    rng = np.random.default_rng([logs, round(10 * apart)])
    told = [one for _ in range(sets) for one in _of_set(rng, logs, apart, unequal)]
    off, half, alone = np.array(told).reshape(-1, 3).T
    return Cell(
        *(logs, apart, sets * len(NAMES), len(told)),
        hold_90=float(np.mean(off <= half * _HALVES_90 / _HALVES)),
        hold_95=float(np.mean(off <= half)),
        width=float(np.median(half / alone)),
    )


def _of_set(
    rng: np.random.Generator, logs: int, apart: float, unequal: float
) -> Iterator[tuple[float, float, float]]:
    """Yield of each parameter that is told how far off it is, and half its interval.

    The third is half the interval of the noise alone.
    """
    made = [_made(rng, name, logs, apart, unequal) for name in NAMES]
    alone = [(str(log), [one.alone[log] for one in made]) for log in range(logs)]
    found = agreement.where_logs_agree([one.together for one in made], alone)
    for one, its in zip(found, made, strict=True):
        if one.is_estimated:
            half = its.together.high - its.together.value
            yield abs(one.value - its.mean), one.high - one.value, half


def _made(rng: np.random.Generator, name: str, logs: int, apart: float, unequal: float) -> Made:
    known = BY_NAME[name]
    middle, noise = 0.5 * (known.low + known.high), _NOISE * (known.high - known.low)
    noises = noise * unequal ** rng.uniform(-1.0, 1.0, logs)
    values = middle + apart * noise * rng.normal(size=logs) + noises * rng.normal(size=logs)
    weights = noises**-2.0
    alone = [_told(name, *map(float, one)) for one in zip(values, noises, strict=True)]
    mean = float(np.average(values, weights=weights))
    return Made(middle, _told(name, mean, float(weights.sum()) ** -0.5), alone)


def _told(name: str, value: float, deviation: float) -> Estimate:
    return Estimate(name, value, value - _HALVES * deviation, value + _HALVES * deviation)


def pooled(cells: Sequence[Cell]) -> float:
    """Return the share of 90 % intervals that hold, of all sets that are told."""
    return sum(one.told * one.hold_90 for one in cells) / sum(one.told for one in cells)


def lines(cells: Sequence[Cell]) -> Iterator[str]:
    """Yield the table: a line for each cell, and the shares of all together."""
    yield f"{'logs':>4}{'apart':>7}{'told':>8}{'90 % hold':>11}{'95 % hold':>11}{'width':>7}"
    for one in cells:
        yield (
            f"{one.logs:4}{one.apart:7.1f}{one.told / one.sets:8.3f}"
            f"{one.hold_90:11.3f}{one.hold_95:11.3f}{one.width:7.2f}"
        )
    shares = [one.hold_90 for one in cells if one.told >= _WELL * one.sets]
    yield (
        f"90 % intervals hold in {pooled(cells):.3f}; where half of the sets are told, "
        f"in {min(shares):.3f} to {max(shares):.3f}"
    )


def main(words: Sequence[str] | None = None) -> int:
    """Print the table; return 0."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sets", type=int, default=100, help="of logs, in each cell (100)")
    parser.add_argument("--unequal", type=float, default=1.5, help="noises, by a factor (1.5)")
    costs = agreement.MEAN_COSTS
    parser.add_argument("--costs", type=float, default=costs, help=f"of the mean ({costs})")
    args = parser.parse_args(words)
    agreement.MEAN_COSTS = args.costs
    cells = [cell(logs, apart, args.sets, args.unequal) for logs in LOGS for apart in APART]
    print("\n".join(lines(cells)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
