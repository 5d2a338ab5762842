"""A drive as it is read from a bag, and the files that are one."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from host_bridge.core.errors import DataFileFault
from host_bridge.logs.bags.commands import CommandSample, ShareSample

Row = tuple[float, ...]


class OdometrySample(NamedTuple):
    """A pose and velocity of the odometry: m, rad, m/s, rad/s.

    ``t_s`` is its stamp in seconds since the bag's beginning, or its receipt if the stamps come
    from another clock.
    """

    t_s: float
    x_m: float
    y_m: float
    yaw_rad: float
    speed_mps: float
    yaw_rate_radps: float


@dataclass
class Bag:
    """A drive read from a bag; all lists are in the order of their times, in SI units.

    A bag has its commands either as ``commands`` or as ``shares``, with ``brakes`` as from when to
    when the brake was on by half or more. ``inertial``: time, yaw rate, acceleration forward and to
    the left. ``motor``: time, electrical turns a minute, duty, volts. ``speeds``: time, m/s, and
    the rad/s that the same reports say, or nan. ``wheels``: time, angle in rad, the mean of both
    sides. ``places``: time, x, y, yaw of the topic that was named for it. ``topics``: the topic
    that was read for each of these; of shares that of the throttle. ``notes`` are sentences on
    times that cannot be right, and on topics that were not used.
    """

    file: str
    sha256: str
    topics: dict[str, str] = field(default_factory=dict)
    commands: list[CommandSample] = field(default_factory=list)
    odometry: list[OdometrySample] = field(default_factory=list)
    shares: list[ShareSample] = field(default_factory=list)
    brakes: list[tuple[float, float]] = field(default_factory=list)
    inertial: list[Row] = field(default_factory=list)
    motor: list[Row] = field(default_factory=list)
    speeds: list[Row] = field(default_factory=list)
    wheels: list[Row] = field(default_factory=list)
    places: list[Row] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def is_bag(path: Path) -> bool:
    """Return whether the name is that of a bag. An .mcap may be a log of Tandem, too."""
    return path.is_dir() or path.suffix in (".bag", ".db3", ".mcap")


def bag_path(path: Path) -> Path:
    """Return what the library opens: of a folder without metadata.yaml its only file.

    A recorder that lost its power leaves such a folder. Raises errors.DataFileFault if there are
    several files, or none.
    """
    if not path.is_dir() or (path / "metadata.yaml").exists():
        return path
    files = sorted(it for it in path.iterdir() if it.suffix in (".mcap", ".db3"))
    if len(files) == 1:
        return files[0]
    raise DataFileFault(
        "the folder of this bag has no metadata.yaml",
        where=str(path),
        expected="metadata.yaml, or one .mcap or .db3 alone",
        got=", ".join(it.name for it in files) or "none of them",
        remedy=f"ros2 bag reindex {path}",
    )


def sha256_of(path: Path) -> str:
    """Return the hash of a file's bytes, or of a folder's files in the order of their names."""
    files = sorted(it for it in path.iterdir() if it.is_file()) if path.is_dir() else [path]
    digest = hashlib.sha256()
    for file in files:
        digest.update(file.read_bytes())
    return digest.hexdigest()
