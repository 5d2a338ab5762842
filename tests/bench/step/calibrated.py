"""The estimate of a step on a chip, calibrated on the steps that were timed there.

    time = ns per instruction * instructions of the same situation, counted here
         + what the wiring's own parts take: sensors, outputs, the line, which are not counted here

One rate for each model of a chip, one constant for each wiring and line: least squares over the
table of measured steps. What the fit is worth is how far it is off where it has fewer constants
than situations; that is shown beside each.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from host_bridge.config import load_vehicle
from host_bridge.config.boards.measured import MeasuredSteps, read_measured
from sim_mock.board.stored_image import stored_image
from tests.bench.step.instructions import counted_in
from tests.bench.step.step_scene import BOARD_ID

WITHIN = 0.15
Key = tuple[bytes, str, int]


@dataclass(frozen=True)
class Estimate:
    """One situation: what the chip took and what the fit says, in microseconds."""

    row: MeasuredSteps
    instructions: float
    estimate_us: float

    @property
    def off(self) -> float:
        return self.estimate_us / self.row.mean_us - 1


@dataclass(frozen=True)
class Fit:
    """Of one model: nanoseconds for each instruction; microseconds of each wiring's own parts."""

    model: str
    instruction_ns: float
    own_us: dict[tuple[str, str], float]


def estimates() -> tuple[list[Fit], list[Estimate]]:
    """Of everything in the table; nothing where it is empty or instructions cannot be counted."""
    # a box's words are not counted
    rows = with_enough_rows([row for row in read_measured() if not row.is_paired])
    keys = [_key(row) for row in rows]
    once = list(dict.fromkeys(keys))
    counts = counted_in(once) if rows else None
    if counts is None:
        return [], []
    instructions = dict(zip(once, counts, strict=True))
    fits, found = [], []
    for model in sorted({_model(row) for row in rows}):
        those = [
            (r, instructions[k]) for r, k in zip(rows, keys, strict=True) if _model(r) == model
        ]
        fit = fitted(model, those)
        fits.append(fit)
        found += [Estimate(row, count, _of(fit, row, count)) for row, count in those]
    return fits, found


def with_enough_rows(rows: Sequence[MeasuredSteps]) -> list[MeasuredSteps]:
    """Drop models with no more rows than a rate and their wirings' constants: a fit would only
    repeat them."""
    several = Counter(map(_model, rows))
    unknown = Counter(model for model, _ in {(_model(row), _wiring(row)) for row in rows})
    return [row for row in rows if several[_model(row)] > unknown[_model(row)] + 1]


def fitted(model: str, rows: Sequence[tuple[MeasuredSteps, float]]) -> Fit:
    """Least squares of the relative error: a step of 5 ms counts as one of 15."""
    wirings = sorted({_wiring(row) for row, _ in rows})
    matrix = np.array([_line(row, count, wirings) for row, count in rows])
    best, *_ = np.linalg.lstsq(matrix, np.ones(len(rows)), rcond=None)
    own_us = {wiring: float(us) for wiring, us in zip(wirings, best[1:], strict=True)}
    return Fit(model, float(best[0]) * 1000, own_us)


def _line(row: MeasuredSteps, count: float, wirings: Sequence[tuple[str, str]]) -> list[float]:
    own = [float(_wiring(row) == wiring) for wiring in wirings]
    return [value / row.mean_us for value in (count, *own)]


def _of(fit: Fit, row: MeasuredSteps, count: float) -> float:
    return count * fit.instruction_ns / 1000 + fit.own_us[_wiring(row)]


def _wiring(row: MeasuredSteps) -> tuple[str, str]:
    return row.wiring, row.link


def _model(row: MeasuredSteps) -> str:
    on = f"{row.chip} at {row.mhz} MHz, MicroPython {row.micropython}"
    return on + (f", flash cache {row.model}" if row.model else "")


def _key(row: MeasuredSteps) -> Key:
    if not row.is_configured:
        return b"", row.state, row.heard
    vehicle = load_vehicle(row.wiring, {"timing.step_s": row.beat_us / 1e6})
    return stored_image(vehicle, BOARD_ID, vehicle.name), row.state, row.heard


def table(found: Sequence[Estimate]) -> Iterator[tuple[str | float, ...]]:
    """For a sheet: by model and situation."""
    for it in found:
        row = it.row
        what = f"{row.wiring}{'' if row.is_configured else ', blank'}, {row.link}, {row.state}"
        verdict = "pass" if abs(it.off) <= WITHIN else "FAIL"
        yield (
            _model(row), f"{what}, hears {row.heard}", it.instructions / 1000, row.mean_us / 1000,
            it.estimate_us / 1000, f"{it.off * 100:+.0f} %", verdict,
        )  # fmt: skip
