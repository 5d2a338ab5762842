"""Any log as a trace: which reader it needs is seen from its name and its first bytes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from calibration.logs import own_log
from calibration.logs.trace import Trace
from host_bridge.domain import Vehicle
from host_bridge.errors import DataFileFault, UsageFault

Load = Callable[[str], Vehicle]  # a vehicle by its name or its file


@dataclass(frozen=True)
class Wanted:
    """What is said about the logs: "" is nothing."""

    car: str = ""
    vehicle: str = ""


def read_trace(path: Path, wanted: Wanted, load: Load, tape_m: float | None = None) -> Trace:
    """Raises errors.DataFileFault for what is no log, UsageFault for what is to be said."""
    trace = _own(path, wanted, load)
    return replace(trace, tape_m=tape_m)


def _own(path: Path, wanted: Wanted, load: Load) -> Trace:
    cars = own_log.cars_of(path)
    car = _chosen(path, list(cars), wanted.car)
    vehicle = wanted.vehicle or cars[car]
    if not vehicle:
        raise UsageFault(
            f"{path.name} does not say what {car} is", expected="--vehicle NAME, or a vehicle file"
        )
    return own_log.read_log(path, car, load(vehicle))


def _chosen(path: Path, cars: list[str], wanted: str) -> str:
    if not cars:
        raise DataFileFault(
            "there is no car in this log",
            where=str(path),
            expected="a log of tandem record or tandem drive --record",
            got="no car",
        )
    if wanted and wanted not in cars:
        raise UsageFault(
            f"there is no {wanted} in {path.name}", expected=" or ".join(cars), got=wanted
        )
    if not wanted and len(cars) > 1:
        raise UsageFault(
            f"{path.name} has several cars", expected="--car " + " or ".join(cars), got="none named"
        )
    return wanted or cars[0]
