"""The text of a calibration's file: values with their intervals and provenance, as TOML."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from calibration.bayesian_fit.estimates import Fit
from calibration.bayesian_fit.variance_priors import SCALES
from calibration.files.calibration import Calibration
from calibration.parameters import BY_NAME, Estimate
from calibration.regression.steering_map import SteeringMap

FIT, LOGS = "fit", "logs"  # the methods, by what a file calls them
_HEADS = {
    FIT: """\
# A calibration: values with their 95 % intervals. What is not fitted the data tell
# little of: it is near its known value. Written by tandem replay.""",
    LOGS: """\
# A calibration out of logs of drives: values with their 95 % intervals. What the logs did not tell
# has no value here, and stays as the vehicle file has it. Written by tandem calibrate.""",
}


def calibration_text(calibration: Calibration) -> str:
    """Return the calibration as TOML."""
    return "\n\n".join(_parts(calibration)) + "\n"


def _parts(calibration: Calibration) -> Iterator[str]:
    head: dict[str, Any] = {
        key: getattr(calibration, key) for key in ("vehicle", "date", "command")
    }
    if calibration.fit:
        head["steering"] = calibration.fit.steering
    method = FIT if calibration.fit else LOGS
    yield _table(_HEADS[method], {**head, "method": method})
    yield from (_table("[[data]]", vars(source)) for source in calibration.data)
    yield from map(_parameter, calibration.estimates)
    if calibration.steering_map:
        yield _map(calibration.steering_map)
    if calibration.fit:
        yield from _uncertainty(calibration.fit)


def _parameter(one: Estimate) -> str:
    p = BY_NAME[one.name]
    title = f"[parameters.{one.name}]  # {p.meaning}" + (f", {p.unit}" if p.unit else "")
    if not one.is_estimated:
        return _table(title, {"untold": one.why})
    numbers = {key: _short(getattr(one, key)) for key in ("value", "low", "high")}
    if one.known is None:
        return _table(title, {**numbers, "why": one.why})
    return _table(title, {**numbers, "known": _short(one.known), "is_fitted": one.is_fitted})


def _map(steering_map: SteeringMap) -> str:
    columns = {name: [*map(_short, values)] for name, values in steering_map.columns().items()}
    residual = {"residual_radps": _short(steering_map.residual_radps)}
    title = "[steering_map]  # commands that were driven, the wheels' angles and their 95 % band"
    return _table(title, {**columns, **residual, "is_bent": steering_map.is_bent})


def _uncertainty(fit: Fit) -> Iterator[str]:
    yield _table(
        "[lack_of_fit]  # p: the chance of such residuals if the model fits",
        fit.lack_of_fit._asdict(),
    )
    yield _table(
        "[band]  # how much wider than the model says, by runs that the others do not predict",
        {"stretch": _short(fit.stretch)},
    )
    pairs = zip(SCALES, fit.scales, strict=True)
    yield "\n".join(["[scales]", *(f"{s.name} = {one:.6g}  # {s.meaning}" for s, one in pairs)])
    rows = (f"    [{', '.join(f'{one:.6g}' for one in row)}]," for row in fit.covariance)
    title = "[covariance]  # of all parameters, each in deviations of its prior (parameters.py)"
    yield "\n".join([title, "rows = [", *rows, "]"])


def _table(title: str, values: Mapping[str, Any]) -> str:
    lines = (f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in values.items())
    return "\n".join([title, *lines])


def _short(value: float) -> float:
    return float(f"{value:.6g}")
