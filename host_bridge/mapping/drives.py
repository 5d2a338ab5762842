"""Reader of a drive with a LIDAR: scans, and where the car's own odometry was at each of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from host_bridge.core.board_time import TIME_MASK, unwrapped_us
from host_bridge.core.errors import DataFileFault
from host_bridge.core.files import misread_text
from host_bridge.logs.reading import cars_in, facts, read
from host_bridge.logs.sensor_lines import SCAN_BEGINS, parse_line, read_true_poses
from host_bridge.mapping.planar import Floats

LIDAR, MOTION = "lidar", "motion"  # topics of a log
_SCAN = ("taken_s", "first_rad", "step_rad")
_LATE_S = 0.25  # odometry comes at 50 Hz; a scan with none nearer than this has no pose


@dataclass(frozen=True)
class ScanSample:
    """One scan: the rays' bearings in the car in rad, ranges in m; nan is a ray without a return.

    ``odometry`` is the car's own reckoning of its pose when it was taken: x, y, yaw of the point
    that it turns about.
    """

    taken_s: float
    bearings_rad: Floats
    ranges_m: Floats
    odometry: Floats


@dataclass(frozen=True)
class ScannedDrive:
    """A car's scans in the order in which they were taken, and its vehicle type."""

    car: str
    vehicle: str
    scans: list[ScanSample]
    left_out: int  # scans that lie outside the time of the odometry


def read_drive(log: Path, car: str | None = None, lidar: Path | None = None) -> ScannedDrive:
    """Read the scans of ``car`` from a log, or from ``lidar``, lines of a car's sensors.

    Raises errors.DataFileFault if the log has no scans or no odometry, or several cars have.
    """
    motion: dict[str, list[tuple[float, ...]]] = {}
    scans: dict[str, list[dict[str, Any]]] = {}
    for record in read(log):
        row = record.value
        if record.topic == MOTION and isinstance(row, dict):
            place = (row["captured_us"] * 1e-6, row["x_m"], row["y_m"], row["yaw_rad"])
            motion.setdefault(record.car, []).append(place)
        elif record.topic == LIDAR and isinstance(row, dict):
            scans.setdefault(record.car, []).append(row)
    name = _chosen(log, car, sorted(motion if lidar else motion.keys() & scans.keys()), scans)
    rows = list(_lines(lidar)) if lidar else scans[name]
    samples = _placed(rows, np.array(motion[name]))
    if not samples:
        raise DataFileFault(
            "no scan lies within the time of the odometry",
            where=str(lidar or log),
            expected="scans and odometry of one drive, both in the car's own time",
            got=f"{len(rows)} scans, and {len(motion[name])} poses of {name}",
            remedy="record both at once: tandem record CAR -o drive.mcap --lidar CAR=FILE",
        )
    vehicle = cars_in(facts(log)).get(name, {}).get("vehicle", "")
    return ScannedDrive(name, vehicle, samples, len(rows) - len(samples))


def with_returns(taken_s: float, row: Mapping[str, Any], odometry: Floats) -> ScanSample:
    """Return the sample of a scan's ``first_rad``, ``step_rad`` and ``ranges_m``."""
    ranges = np.array([np.nan if it is None else it for it in row["ranges_m"]], dtype=float)
    ranges[ranges <= 0.0] = np.nan  # a log has -1 for a ray without a return
    bearings = row["first_rad"] + row["step_rad"] * np.arange(len(ranges))
    return ScanSample(taken_s, bearings, ranges, odometry)


def _chosen(log: Path, car: str | None, cars: list[str], scans: dict[str, Any]) -> str:
    if car is None and len(cars) == 1:
        return cars[0]
    if car in cars:
        return car
    raise DataFileFault(
        f"no drive of {car or 'one car'} with scans in it",
        where=str(log),
        expected=f"--car {' or '.join(cars)}" if cars else "a log with odometry and scans of a car",
        got=car or (f"{len(cars)} cars with both" if cars else f"{len(scans)} cars with scans"),
        remedy="tandem record CAR -o drive.mcap --lidar CAR=FILE logs the scans; "
        "or name the file of the sensors here: --lidar FILE.jsonl",
    )


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the scans of a file of sensors, whose other lines and last broken line are no matter.

    Raises errors.DataFileFault.
    """
    try:
        with path.open("rb") as file:
            for number, line in enumerate(file, 1):
                if line.startswith(SCAN_BEGINS) and line.endswith(b"\n"):
                    yield _row(path, number, line)
    except OSError as error:
        raise DataFileFault.unreadable(path, error) from None


def true_poses(path: Path) -> Callable[[float], tuple[float, float, float] | None]:
    """Return a function of the car's time in s to its true pose, from the lines of its sensors.

    The pose is that of the centre of gravity: x, y in m, yaw in rad; None outside of the lines.
    Raises errors.DataFileFault.
    """
    table = np.array([it[:4] for it in read_true_poses(path)]).reshape(-1, 4)
    yaw_rad = np.unwrap(table[:, 3])

    def at(taken_s: float) -> tuple[float, float, float] | None:
        if not len(table) or not table[0, 0] <= taken_s <= table[-1, 0]:
            return None
        x, y = (float(np.interp(taken_s, table[:, 0], table[:, it])) for it in (1, 2))
        return x, y, float(np.interp(taken_s, table[:, 0], yaw_rad))

    return at


def _row(path: Path, number: int, line: bytes) -> dict[str, Any]:
    try:
        row = parse_line(line)
        ranges_m = [None if it is None else float(it) for it in row["ranges_m"]]
        return {**{key: float(row[key]) for key in _SCAN}, "ranges_m": ranges_m}
    except (ValueError, TypeError, KeyError) as error:
        raise DataFileFault(
            "no scan",
            where=f"{path}, line {number}",
            expected="taken_s, first_rad, step_rad and ranges_m",
            got=misread_text(error),
        ) from None


def _unwrapped(times_s: Floats, middle_s: float) -> Floats:
    """Return times of a car's clock without its wraps, the turn of it that is nearest to
    ``middle_s``, the middle of the scans: they count on."""
    times = np.unwrap(times_s, period=(TIME_MASK + 1) * 1e-6)
    own_us = round(float(np.median(times)) * 1e6)
    return np.asarray(times + (unwrapped_us(own_us, round(middle_s * 1e6)) - own_us) * 1e-6)


def _placed(rows: list[dict[str, Any]], motion: Floats) -> list[ScanSample]:
    """Return the scans with the odometry at their times, interpolated; others are left out."""
    if not rows:
        return []
    times = _unwrapped(motion[:, 0], float(np.median([row["taken_s"] for row in rows])))
    yaw_rad = np.unwrap(motion[:, 3])
    found: list[ScanSample] = []
    for row in rows:
        taken_s = float(row["taken_s"])
        near = int(np.searchsorted(times, taken_s))
        if not 0 < near < len(times) or times[near] - times[near - 1] > _LATE_S:
            continue
        pose = (np.interp(taken_s, times, it) for it in (motion[:, 1], motion[:, 2], yaw_rad))
        found.append(with_returns(taken_s, row, np.array(list(pose))))
    return sorted(found, key=lambda it: it.taken_s)
