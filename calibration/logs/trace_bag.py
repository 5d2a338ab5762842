"""A ROS bag as a trace: of an F1TENTH's or AutoDRIVE's stack, or with Tandem's own topics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from calibration.logs.trace import DriveTrace, Series, series
from host_bridge.config import vehicle_word
from host_bridge.core import Vehicle
from host_bridge.core.errors import DataFileFault
from host_bridge.logs.bag_series import BagSeries, Row, read_bag_series

BAG = "bag of ROS"  # the kind of such a trace
# Electrical rpm at 1 m/s per (count per metre): a VESC counts six steps a turn of the field, so
# 60 / 6.
ERPM_COUNTS = 10.0


def read_trace_bag(path: Path, vehicle: Vehicle, topics: Mapping[str, str]) -> DriveTrace:
    """Read a bag. Raises errors.DataFileFault if it has neither commands nor motion of a car."""
    bag = read_bag_series(path, dict(topics))
    if not (bag.commands or bag.odometry or bag.motor):
        raise DataFileFault(
            "nothing in this bag tells of a car",
            where=str(path),
            expected="commands (/drive), odometry (/odom), or a VESC's state (/sensors/core)",
            got=", ".join(bag.topics.values()) or "none of them",
            remedy="name the topics: --drive-topic, --odom-topic, --core-topic, --imu-topic",
        )
    per_m = 1e9 / vehicle.parameters["nm_per_count"][0]
    travel, notes = _travel(bag, per_m)
    commands = np.array(bag.commands) if bag.commands else np.zeros((0, 3))
    is_asked = commands[:, 1] != 0.0
    return DriveTrace(
        path.name,
        bag.sha256,
        BAG,
        vehicle_word(vehicle),
        steering=series(commands[:, [0, 2]].tolist()),
        target=series(
            np.column_stack([commands[:, 0], np.where(is_asked, commands[:, 1], np.nan)]).tolist()
        ),
        effort=_effort(bag, vehicle),
        travel=travel,
        inertial=series(bag.inertial),
        places=series(bag.places),
        battery=series([(row[0], row[3]) for row in bag.motor if row[3] > 0.0]),
        counts_per_m=per_m,
        notes=(*bag.notes, *notes),
    )


def _travel(bag: BagSeries, per_m: float) -> tuple[Series, list[str]]:
    """Return the travel by the motor's turns, or else by the speed of the odometry; and notes."""
    if bag.motor:
        rate = np.array([row[1] for row in bag.motor]) / (ERPM_COUNTS * per_m)
        times_s = np.array([row[0] for row in bag.motor])
        rate *= _sign(times_s, rate, bag.commands)
        return _summed(times_s, rate), []
    if bag.odometry:
        note = f"speed is that of {bag.topics['odometry']}: metres are its own"
        columns = np.array(bag.odometry)
        return _summed(columns[:, 0], columns[:, 1]), [note]
    return Series(), []


def _sign(times_s: np.ndarray, rate: np.ndarray, commands: Sequence[Row]) -> float:
    """Return -1 if the motor's speed opposes the commands, else 1.

    F1TENTH's driver reports forward as negative; the commands show which way the car drove.
    """
    if not commands:
        return 1.0
    asked = np.array(commands)
    place = np.maximum(np.searchsorted(asked[:, 0], times_s, side="right") - 1, 0)
    return -1.0 if float(np.sum(asked[place, 1] * rate)) < 0.0 else 1.0


def _summed(times_s: np.ndarray, speed_mps: np.ndarray) -> Series:
    steps = np.diff(times_s, prepend=times_s[0])
    middle = (speed_mps + np.concatenate([speed_mps[:1], speed_mps[:-1]])) / 2
    return series(np.column_stack([times_s, np.cumsum(steps * middle)]).tolist())


def _effort(bag: BagSeries, vehicle: Vehicle) -> Series:
    """Return a VESC's duty as a share of the maximum in the vehicle file.

    A duty that is 0 throughout counts as missing: a driver that does not know it reports 0.
    """
    if not any(row[2] for row in bag.motor):
        return Series()
    vesc = vehicle.plant.get("vesc")
    most = float(vesc["duty_max"]) if isinstance(vesc, dict) else 1.0
    rows = [(row[0], row[2] / most) for row in bag.motor]
    total = sum(row[1] for row in rows)
    way = -1.0 if total < 0.0 else 1.0
    return series([(time_s, way * effort) for time_s, effort in rows])
