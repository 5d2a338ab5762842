"""Reader of Tandem's logs (``tandem record``), or of their CSV (``tandem log --csv``)."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from calibration.logs.trace import DriveTrace, series
from host_bridge.config import vehicle_word
from host_bridge.core import Vehicle
from host_bridge.core.errors import DataFileFault
from host_bridge.core.files import Key, TableSchema, flag, number, read_table, text
from host_bridge.logs import reading
from host_bridge.logs.bags.bag import sha256_of

_WRAP_US = 1 << 30  # where a board's clock wraps on the wire
_COUNTS = 1 << 30  # where its counters wrap
_DRIVEN = "ACTIVE"
_CLOCK = 1 << 32  # above every time and count of the wire
_COLUMNS: dict[str, tuple[Key, ...]] = {
    "status": (
        number("time_us", 0.0, _CLOCK),
        text("state"),
        number("brake", 0.0, 1.0),
        number("steer_rad", -1.6, 1.6),
        number("target_mps", -60.0, 60.0),
    ),
    "motion": (
        number("captured_us", 0.0, _CLOCK),
        number("count_left", -_CLOCK, _CLOCK),
        number("count_right", -_CLOCK, _CLOCK),
        number("accel_x_mps2", -500.0, 500.0),
        number("accel_y_mps2", -500.0, 500.0),
        number("yaw_rate_radps", -50.0, 50.0),
    ),
    "outputs": (Key("channels", "numbers", -_CLOCK, _CLOCK), flag("is_enabled")),
    "power": (number("battery_v", 0.0, 100.0),),
    "inputs": (flag("has_imu"),),
}
_SCHEMAS = {
    topic: TableSchema(
        f"table of {topic} of tandem log --csv",
        (number("log_t_s", -1e10, 1e10), *columns),
        example="tandem log FILE.mcap --csv FOLDER writes it anew",
    )
    for topic, columns in _COLUMNS.items()
}
_TOPICS = tuple(_COLUMNS)
_FULL_DUTY = 10_000  # of an output: all of the time, in 1/10000
_ESC, _H_BRIDGE = 2, 3  # firmware.core.settings.params, channel_kind

Row = Mapping[str, Any]
Rows = Iterable[tuple[str, Row]]


def logged_cars(path: Path) -> dict[str, str]:
    """Return the cars of a log and their types. Raises errors.DataFileFault."""
    cars = reading.cars_in(reading.facts(path))
    return {name: row.get("vehicle", "") for name, row in cars.items()}


def read_tandem_log(path: Path, car: str, vehicle: Vehicle) -> DriveTrace:
    """Read one car's drive from a log. Raises errors.DataFileFault for what is no log of Tandem."""
    rows = (
        (it.topic, it.value)
        for it in reading.read(path)
        if it.car == car and it.topic in _TOPICS and isinstance(it.value, dict)
    )
    trace = _CollectedSeries(vehicle, rows).trace(path.name, sha256_of(path), "log of Tandem")
    facts = reading.cars_in(reading.facts(path)).get(car, {})
    return replace(trace, board_id=facts.get("board_id", ""))


def read_tandem_tables(folder: Path, car: str, vehicle: Vehicle) -> DriveTrace:
    """Read one car's drive from the folder that ``tandem log FILE --csv FOLDER`` wrote.

    Raises errors.DataFileFault.
    """
    found = [(topic, folder / f"{car}_{topic}.csv") for topic in _TOPICS]
    there = [(topic, path) for topic, path in found if path.exists()]
    digest = hashlib.sha256()
    timed: list[tuple[float, str, Row]] = []
    for topic, path in there:
        digest.update(path.read_bytes())
        timed += ((row["log_t_s"], topic, row) for row in _table(path, topic))
    timed.sort(key=lambda it: it[0])
    rows = ((topic, row) for _, topic, row in timed)
    return _CollectedSeries(vehicle, rows).trace(
        folder.name, digest.hexdigest(), "CSV of tandem log"
    )


def cars_of_tandem_tables(folder: Path) -> list[str]:
    """Return the names of the cars that have tables in this folder."""
    return sorted(path.name.removesuffix("_status.csv") for path in folder.glob("*_status.csv"))


def _table(path: Path, topic: str) -> Iterator[Row]:
    """Return a table's rows. Raises errors.DataFileFault."""
    return (row.values for row in read_table(path, _SCHEMAS[topic]).rows)


class _UnwrappedCounter:
    """An unwrapping counter: returns a value that wraps at ``size`` as one that does not."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._last: int | None = None
        self._unwrapped = 0

    def unwrapped(self, value: float) -> int:
        now = int(value)
        if self._last is None:
            self._unwrapped = now
        else:
            half = self._size // 2
            self._unwrapped += (now - self._last + half) % self._size - half
        self._last = now
        return self._unwrapped


class _CollectedSeries:
    """Series collected from a log's rows, all by the board's own clock, free of transport delay."""

    def __init__(self, vehicle: Vehicle, rows: Rows) -> None:
        self._vehicle = vehicle
        self._per_m = 1e9 / vehicle.parameters["nm_per_count"][0]
        self._time, self._captured = _UnwrappedCounter(_WRAP_US), _UnwrappedCounter(_WRAP_US)
        self._left, self._right = _UnwrappedCounter(_COUNTS), _UnwrappedCounter(_COUNTS)
        self._now_s = 0.0
        self._is_driven = False
        self._has_gyro = vehicle.parameters["gyro_fitted"][0] == 1
        self._silent_imu = 0
        self.steering: list[tuple[float, ...]] = []
        self.target: list[tuple[float, ...]] = []
        self.program: list[tuple[float, ...]] = []
        self.effort: list[tuple[float, ...]] = []
        self.travel: list[tuple[float, ...]] = []
        self.inertial: list[tuple[float, ...]] = []
        self.battery: list[tuple[float, ...]] = []
        for topic, row in rows:
            getattr(self, f"_{topic}")(row)

    def trace(self, file: str, sha256: str, kind: str) -> DriveTrace:
        """Return the trace. Raises errors.DataFileFault where nothing of the car is in the log."""
        if len(self.travel) < 2 or len(self.steering) < 2:
            raise DataFileFault(
                "there is nothing of this car to look at",
                where=file,
                expected="rows of status and motion",
                got=f"{len(self.steering)} and {len(self.travel)}",
                remedy="tandem log FILE says what it holds; --car NAME names another car",
            )
        return DriveTrace(
            file,
            sha256,
            kind,
            vehicle_word(self._vehicle),
            steering=series(self.steering),
            target=series(self.target),
            program=series(self.program),
            effort=series(self.effort),
            travel=series(self.travel),
            inertial=series(self.inertial),
            battery=series(self.battery),
            counts_per_m=self._per_m,
            notes=self._notes(),
        )

    def _notes(self) -> tuple[str, ...]:
        if not self._has_gyro:
            return ("its vehicle file has no gyro, so its yaw rate is a guess of its steering",)
        if self._silent_imu:
            return (f"the inertial sensor was silent in {self._silent_imu} reports",)
        return ()

    def _status(self, row: Row) -> None:
        self._now_s = self._time.unwrapped(row["time_us"]) * 1e-6
        self._is_driven = row["state"] == _DRIVEN and row["brake"] == 0
        self.steering.append((self._now_s, row["steer_rad"]))
        self.target.append((self._now_s, row["target_mps"] if self._is_driven else np.nan))
        is_stopping = row["state"] != _DRIVEN and row["brake"] > 0.0
        self.program.append((self._now_s, row["target_mps"], float(is_stopping)))

    def _motion(self, row: Row) -> None:
        at_s = self._captured.unwrapped(row["captured_us"]) * 1e-6
        left, right = (
            self._left.unwrapped(row["count_left"]),
            self._right.unwrapped(row["count_right"]),
        )
        self.travel.append((at_s, (left + right) / 2 / self._per_m))
        if self._has_gyro:
            accel = row["accel_x_mps2"], row["accel_y_mps2"]
            self.inertial.append((at_s, row["yaw_rate_radps"], *accel))

    def _outputs(self, row: Row) -> None:
        efforts = [
            effort
            for at, out in enumerate(row["channels"])
            if (effort := effort_of(self._vehicle, at, out)) is not None
        ]
        if efforts and row["is_enabled"]:
            amount = sum(efforts) / len(efforts) if self._is_driven else np.nan
            self.effort.append((self._now_s, amount))

    def _power(self, row: Row) -> None:
        self.battery.append((self._now_s, row["battery_v"]))

    def _inputs(self, row: Row) -> None:
        self._silent_imu += self._has_gyro and not row["has_imu"]


def effort_of(vehicle: Vehicle, channel: int, out: float) -> float | None:
    """Return a drive channel's output as a share of its maximum; None for other channels."""
    p = vehicle.parameters
    kind, rest = p["channel_kind"][channel], p["channel_neutral"][channel]
    if kind == _H_BRIDGE:
        return out / _FULL_DUTY
    if kind != _ESC:
        return None
    end = p["channel_high"][channel] if out > rest else p["channel_low"][channel]
    return float((out - rest) / abs(end - rest))
