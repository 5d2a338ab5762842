"""Reader of a virtual car's true poses from the file that its sensors wrote (``sensors=FILE``)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from host_bridge.core.errors import DataFileFault
from host_bridge.core.files import Key, finite, number, read_samples

_TRUTH = (number("taken_s", 0.0, 1e10), Key("truth", "table"))  # of a line of its sensors


class TimedPose(NamedTuple):
    """The true pose of the centre of gravity at a time of the car: s, m, m, rad.

    ``hits`` is how often the car had hit a wall by then; None without walls.
    """

    taken_s: float
    x_m: float
    y_m: float
    yaw_rad: float
    hits: int | None


def read_true_poses(path: Path) -> Iterator[TimedPose]:
    """Yield the true poses in the order of the file.

    Raises errors.DataFileFault for a line that is no sample, and for a truth without a pose.
    """
    try:
        for row in read_samples(path, "truth", _TRUTH):
            truth = row["truth"]
            x_m, y_m, yaw_rad = (finite(truth[name]) for name in ("x_m", "y_m", "yaw_rad"))
            yield TimedPose(row["taken_s"], x_m, y_m, yaw_rad, truth.get("hits"))
    except (ValueError, KeyError, TypeError) as fault:
        raise DataFileFault(
            "no samples of a virtual car's sensors",
            where=str(path),
            expected="a line of JSON for each sample, with the truth beside it",
            got=f"{type(fault).__name__}: {fault}",
            remedy="sim://f1tenth?sensors=run.jsonl writes them",
        ) from None
