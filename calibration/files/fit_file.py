"""Reading and writing of calibration files: parameter values with the provenance of their fit."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from calibration.bayesian_fit.estimates import Estimate, Fit, LackOfFit
from calibration.bayesian_fit.parameters import FIT_PARAMETER_NAMES, FIT_PARAMETERS
from calibration.bayesian_fit.variance_priors import SCALES
from calibration.files.source import COMMANDS, CalibrationSource, sources_of
from calibration.logs.run import Run
from host_bridge.core.errors import VehicleFileFault
from host_bridge.core.files import finite, misread_text
from host_bridge.core.files.packaged_files import CALIBRATIONS, packaged_file

FOLDER = Path(__file__).parents[1] / "results"
METHOD = "fit"
REMEDY = "write one with tandem replay --fit"


@dataclass(frozen=True)
class FitCalibration:
    """The fitted parameters of one vehicle, with the record of how they were obtained.

    ``date`` and ``command`` say when and how; ``data`` lists the files of the runs that were fitted
    on, commands and odometry by turns, and ``steering`` the least and greatest steering in them, as
    shares of full lock.
    """

    vehicle: str
    date: str
    command: str
    data: tuple[CalibrationSource, ...]
    steering: tuple[float, float]
    fit: Fit

    @property
    def estimates(self) -> tuple[Estimate, ...]:
        return self.fit.estimates

    @property
    def values(self) -> dict[str, float]:
        return self.fit.values

    def was_fitted_on(self, run: Run) -> bool:
        files = CalibrationSource.of_run(run)
        pairs = zip(self.data[::2], self.data[1::2], strict=True)
        return any(all(map(CalibrationSource.is_same_file, files, pair)) for pair in pairs)

    @property
    def fitted_on(self) -> list[str]:
        """The names of the commands' files."""
        return [one.file for one in self.data if one.kind == COMMANDS]


def fit_file_text(calibration: FitCalibration) -> str:
    """Return the calibration as TOML."""
    head = [
        "# A calibration: values with their 95 % intervals. What is not fitted the data tell",
        "# little of: it is near its known value. Written by tandem replay.",
        *(f"{key} = {json.dumps(getattr(calibration, key))}" for key in _HEAD),
        f"method = {json.dumps(METHOD)}",
    ]
    fit = calibration.fit
    data = (_table("[[data]]", vars(source)) for source in calibration.data)
    lack_of_fit = _table(
        "[lack_of_fit]  # p: the chance of such residuals if the model fits",
        fit.lack_of_fit._asdict(),
    )
    wider = _table(
        "[band]  # how much wider than the model says, by runs that the others do not predict",
        {"stretch": float(f"{fit.stretch:.6g}")},
    )
    scales = [
        f"{s.name} = {one:.6g}  # {s.meaning}" for s, one in zip(SCALES, fit.scales, strict=True)
    ]
    covariance = [
        "[covariance]  # of all parameters, each in deviations of its prior (parameters.py)",
        "rows = [",
        *(f"    [{', '.join(f'{one:.6g}' for one in row)}]," for row in fit.covariance),
        "]",
    ]
    parts = [
        *data,
        *map(_parameter, fit.estimates),
        lack_of_fit,
        wider,
        "\n".join(["[scales]", *scales]),
    ]
    return "\n\n".join(["\n".join(head), *parts, "\n".join(covariance)]) + "\n"


_HEAD = ("vehicle", "date", "command", "steering")


def _parameter(one: Estimate) -> str:
    meaning = {p.name: p.meaning for p in FIT_PARAMETERS}[one.name]
    numbers = {key: float(f"{getattr(one, key):.6g}") for key in ("value", "low", "high", "known")}
    return _table(f"[parameters.{one.name}]  # {meaning}", {**numbers, "is_fitted": one.is_fitted})


def _table(title: str, values: dict[str, Any]) -> str:
    return "\n".join([title, *(f"{key} = {json.dumps(value)}" for key, value in values.items())])


def shipped_fit_file(vehicle: str) -> Path | None:
    """Return the calibration that Tandem, or another package, ships for a type of car, if any."""
    path = FOLDER / f"{vehicle}.toml"
    return path if path.exists() else packaged_file(CALIBRATIONS, vehicle)


def read_fit(path: Path, document: dict[str, Any]) -> FitCalibration:
    """Read the document of such a file. Raises errors.VehicleFileFault for one that is none."""
    try:
        parameters = document.pop("parameters")
        _refuse_strange_names(path, "parameters", list(FIT_PARAMETER_NAMES), list(parameters))
        data = tuple(one for row in document.pop("data") for one in sources_of(row))
        low, high = map(finite, document.pop("steering"))
        fit = _fit(path, parameters, document)
        calibration = FitCalibration(**document, data=data, steering=(low, high), fit=fit)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise VehicleFileFault(
            f"no calibration: {misread_text(error)}", where=str(path), remedy=REMEDY
        ) from None
    _refuse_strange(path, calibration.estimates)
    return calibration


def _fit(path: Path, parameters: dict[str, Any], document: dict[str, Any]) -> Fit:
    scales = document.pop("scales")
    _refuse_strange_names(path, "scales", [one.name for one in SCALES], list(scales))
    covariance = np.array(document.pop("covariance")["rows"], float)
    if covariance.shape != (len(FIT_PARAMETER_NAMES), len(FIT_PARAMETER_NAMES)):
        raise ValueError(f"covariance of shape {covariance.shape}")
    if not np.isfinite(covariance).all():
        raise ValueError("covariance with a number that is not finite")
    return Fit(
        tuple(_estimate(name, parameters[name]) for name in FIT_PARAMETER_NAMES),
        covariance,
        np.array([finite(scales[one.name]) for one in SCALES]),
        LackOfFit(**document.pop("lack_of_fit")),
        finite(document.pop("band")["stretch"]),
    )


def _estimate(name: str, one: dict[str, Any]) -> Estimate:
    value, low, high, known = (finite(one.pop(key)) for key in ("value", "low", "high", "known"))
    return Estimate(name, value, low, high, known, **one)


def _refuse_strange_names(path: Path, where: str, wanted: list[str], got: list[str]) -> None:
    if sorted(wanted) != sorted(got):
        raise VehicleFileFault(
            f"other {where} than this version's",
            where=str(path),
            expected=", ".join(wanted),
            got=", ".join(got),
            remedy=REMEDY,
        )


def _refuse_strange(path: Path, estimates: Sequence[Estimate]) -> None:
    for one, p in ((one, p) for one in estimates for p in FIT_PARAMETERS if p.name == one.name):
        if not p.low <= one.value <= p.high:
            where = f"{path}, parameters.{one.name}.value"
            raise VehicleFileFault(
                "out of range",
                where=where,
                expected=f"{p.low:g} to {p.high:g}",
                got=repr(one.value),
                remedy=REMEDY,
            )
