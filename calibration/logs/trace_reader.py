"""Reading of any log as a trace; the reader is chosen by the file's name and first bytes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from calibration.logs import trace_tandem as own_log
from calibration.logs.ros_bag import read_trace_bag
from calibration.logs.trace import DriveTrace
from calibration.logs.trace_csv import read_trace_csv
from host_bridge.core import Vehicle
from host_bridge.core.errors import DataFileFault, UsageFault
from host_bridge.logs import reading
from host_bridge.logs.bags.bag import is_bag
from host_bridge.logs.recorder import FACTS

Load = Callable[[str], Vehicle]  # a vehicle by its name or its file


@dataclass(frozen=True)
class LogChoices:
    """The user's choices about the logs; "" is none.

    ``topics`` maps a purpose to a bag's topic, ``columns`` our name of a CSV's column to its own.
    """

    car: str = ""
    vehicle: str = ""
    topics: Mapping[str, str] = field(default_factory=dict)
    columns: Mapping[str, str] = field(default_factory=dict)


def read_trace(
    path: Path, wanted: LogChoices, load: Load, tape_m: float | None = None
) -> DriveTrace:
    """Read a log. Raises errors.DataFileFault if it is none, UsageFault for a missing choice."""
    return replace(_reader(path)(path, wanted, load), tape_m=tape_m)


def _reader(path: Path) -> Callable[[Path, LogChoices, Load], DriveTrace]:
    if path.is_dir() and own_log.cars_of_tandem_tables(path):
        return _tables
    if path.suffix == ".csv":
        return _csv
    is_own = path.suffix == ".mcap" and FACTS in reading.facts(path)
    return _bag if is_bag(path) and not is_own else _own


def _csv(path: Path, wanted: LogChoices, load: Load) -> DriveTrace:
    return read_trace_csv(path, load(_vehicle_named(path, wanted)), wanted.columns)


def _bag(path: Path, wanted: LogChoices, load: Load) -> DriveTrace:
    return read_trace_bag(path, load(_vehicle_named(path, wanted)), wanted.topics)


def _tables(path: Path, wanted: LogChoices, load: Load) -> DriveTrace:
    car = _chosen(path, own_log.cars_of_tandem_tables(path), wanted.car)
    return own_log.read_tandem_tables(path, car, load(_vehicle_named(path, wanted)))


def _vehicle_named(path: Path, wanted: LogChoices) -> str:
    if wanted.vehicle:
        return wanted.vehicle
    raise UsageFault(
        f"{path.name} does not say what car it is of",
        expected="--vehicle NAME, or a vehicle file",
        got="none named",
    )


def _own(path: Path, wanted: LogChoices, load: Load) -> DriveTrace:
    cars = own_log.logged_cars(path)
    car = _chosen(path, list(cars), wanted.car)
    vehicle = wanted.vehicle or cars[car]
    if not vehicle:
        raise UsageFault(
            f"{path.name} does not say what {car} is", expected="--vehicle NAME, or a vehicle file"
        )
    return own_log.read_tandem_log(path, car, load(vehicle))


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
