"""Positions of a car as tracked from outside: by cameras over the floor, a tracker, or SLAM.

A file is CSV with the columns t_s, x_m, y_m, or lines of JSON as a virtual car's ``sensors=FILE``
writes them; of those the sensor ``position`` is used. The file has its own clock: it is shifted so
that the speeds of both agree, and finely by the paths (calibration.regression.counts_per_metre).
"""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from math import isfinite
from pathlib import Path

import numpy as np

from calibration.arrays import Floats
from calibration.logs.trace import Series, Trace, series
from host_bridge.core.errors import DataFileFault

COLUMNS = ("t_s", "x_m", "y_m")
_GRID_S = 0.05  # chosen: a small car's path between two of these is straight
_SMOOTH_S = 0.4  # chosen: longer would round bends off, shorter would leave the noise
_LEAST = 20  # positions of a drive: fewer are no track


def with_tracked_positions(trace: Trace, path: Path) -> Trace:
    """Return the drive with its tracked positions on its clock. Raises errors.DataFileFault."""
    seen = read_tracked_positions(path)
    return replace(trace, places=_shifted(trace, seen) if trace.travel.is_present else seen)


def read_tracked_positions(path: Path) -> Series:
    """Read tracked positions, on the file's own clock. Raises errors.DataFileFault."""
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise DataFileFault.unreadable(path, error) from None
    except UnicodeDecodeError:
        raise _strange(path, "binary data") from None
    try:
        rows = _of_json(text) if text.lstrip().startswith("{") else _of_csv(text)
    except (ValueError, KeyError, TypeError) as error:
        raise _strange(path, f"{type(error).__name__}: {error}") from None
    found = [row for row in rows if all(map(isfinite, row))]
    if len(found) < _LEAST:
        raise _strange(path, f"{len(found)} places")
    return series(found)


def _of_json(text: str) -> list[tuple[float, ...]]:
    rows = [json.loads(line) for line in text.splitlines() if '"sensor": "position"' in line]
    return [(row["taken_s"], row["x_m"], row["y_m"]) for row in rows]


def _of_csv(text: str) -> list[tuple[float, ...]]:
    return [
        tuple(float(row[name]) for name in COLUMNS) for row in csv.DictReader(text.splitlines())
    ]


def _strange(path: Path, got: str) -> DataFileFault:
    return DataFileFault(
        "these are no places of a car",
        where=str(path),
        expected=f"CSV with the columns {', '.join(COLUMNS)}, or a virtual car's lines of sensors; "
        f"{_LEAST} places or more",
        got=got,
        remedy="a virtual car writes such a file: sim://f1tenth?sensors=FILE",
    )


def _shifted(trace: Trace, seen: Series) -> Series:
    """Return the positions shifted in time to where the two speeds correlate best."""
    own_s = np.arange(trace.travel.t_s[0], trace.travel.t_s[-1], _GRID_S)
    own = np.abs(trace.speed_mps(own_s))
    their_s = np.arange(seen.t_s[0], seen.t_s[-1], _GRID_S)
    x_m, y_m = (_smooth(np.interp(their_s, seen.t_s, column)) for column in seen.values[:2])
    theirs = np.hypot(np.gradient(x_m, _GRID_S), np.gradient(y_m, _GRID_S))
    alike = np.correlate(own - own.mean(), theirs - theirs.mean(), "full")
    at = int(np.argmax(alike)) - (len(theirs) - 1)
    shift_s = own_s[0] + at * _GRID_S - their_s[0]
    return Series(seen.t_s + shift_s, seen.values)


def _smooth(values: Floats) -> Floats:
    width = int(_SMOOTH_S / _GRID_S)
    padded = np.pad(values, width // 2, mode="edge")
    return np.asarray(
        np.convolve(padded, np.ones(width) / width, "same")[width // 2 : -(width // 2)]
    )
