"""The file of a calibration: numbers with their birth certificate."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from calibration.fit import Estimate
from calibration.parameters import NAMES, PARAMETERS
from calibration.samples import Run
from host_bridge.errors import VehicleFileFault

_toml: Any = import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")

FOLDER = Path(__file__).parent / "results"
REMEDY = "write one with tandem replay --fit"


@dataclass(frozen=True)
class Source:
    """A run that was fitted on, by the names and hashes of its files."""

    commands: str
    commands_sha256: str
    odometry: str
    odometry_sha256: str

    @classmethod
    def of(cls, run: Run) -> Source:
        c, o = run.commands, run.odometry
        return cls(c.file, c.sha256, o.file, o.sha256)


@dataclass(frozen=True)
class Calibration:
    """``date`` and ``command`` say when and how; ``data`` what was fitted on."""

    vehicle: str
    date: str
    command: str
    data: tuple[Source, ...]
    estimates: tuple[Estimate, ...]

    @property
    def values(self) -> dict[str, float]:
        return {one.name: one.value for one in self.estimates}

    def was_fitted_on(self, run: Run) -> bool:
        return Source.of(run) in self.data


def written(calibration: Calibration) -> str:
    """As TOML."""
    head = [
        "# A calibration: values with their 95 % intervals. What is not fitted is at its known",
        "# value, and low to high is what the data do not exclude. Written by tandem replay.",
        *(f"{key} = {json.dumps(getattr(calibration, key))}" for key in _HEAD),
    ]
    data = (_table("[[data]]", vars(source)) for source in calibration.data)
    return "\n\n".join(["\n".join(head), *data, *map(_parameter, calibration.estimates)]) + "\n"


_HEAD = ("vehicle", "date", "command")


def _parameter(one: Estimate) -> str:
    meaning = {p.name: p.meaning for p in PARAMETERS}[one.name]
    numbers = {key: float(f"{getattr(one, key):.6g}") for key in ("value", "low", "high", "known")}
    return _table(f"[parameters.{one.name}]  # {meaning}", {**numbers, "is_fitted": one.is_fitted})


def _table(title: str, values: dict[str, Any]) -> str:
    return "\n".join([title, *(f"{key} = {json.dumps(value)}" for key, value in values.items())])


def found(vehicle: str) -> Path | None:
    """The calibration that Tandem brings along for a type of car."""
    path = FOLDER / f"{vehicle}.toml"
    return path if path.exists() else None


def read(path: Path) -> Calibration:
    """Raises errors.VehicleFileFault for what is no calibration."""
    try:
        document = _toml.loads(path.read_text(encoding="utf-8"))
        parameters = document.pop("parameters")
        data = tuple(Source(**source) for source in document.pop("data"))
        estimates = tuple(_estimate(name, one) for name, one in parameters.items())
        calibration = Calibration(**document, data=data, estimates=estimates)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise VehicleFileFault(f"no calibration: {error}", where=str(path), remedy=REMEDY) from None
    _refuse_strange(path, calibration.estimates)
    return calibration


def _estimate(name: str, one: dict[str, Any]) -> Estimate:
    value, low, high, known = (float(one.pop(key)) for key in ("value", "low", "high", "known"))
    return Estimate(name, value, low, high, known, **one)


def _refuse_strange(path: Path, estimates: Sequence[Estimate]) -> None:
    names = [one.name for one in estimates]
    if sorted(names) != sorted(NAMES):
        raise VehicleFileFault(
            "other parameters than this version's",
            where=str(path),
            expected=", ".join(NAMES),
            got=", ".join(names),
            remedy=REMEDY,
        )
    for one, p in ((one, p) for one in estimates for p in PARAMETERS if p.name == one.name):
        if one.is_fitted and not p.low <= one.value <= p.high:
            where = f"{path}, parameters.{one.name}.value"
            raise VehicleFileFault(
                "out of range",
                where=where,
                expected=f"{p.low:g} to {p.high:g}",
                got=repr(one.value),
                remedy=REMEDY,
            )
