"""Readers of a car's LIDAR and ground truth, as lines of JSON: live, and of a whole file.

A virtual car writes them (``sensors=FILE``), or any program that says the same of a real one
(sim_mock/sensors/README.md has the format).
"""

from __future__ import annotations

import fcntl
import json
import os
import stat
from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from host_bridge.core.errors import DataFileFault
from host_bridge.core.files import Key, finite, misread_text, number, read_samples
from host_bridge.core.system.quickly_made import quickly_made

_READ_MAX = 1 << 20
_LATELY = 200  # lines: a second and a half of a car's truth and scans
_PIPE_BYTES = 1 << 20  # a line with a scan has 50 kB
SCAN_BEGINS, _TRUTH_BEGINS = b'{"sensor": "lidar"', b'{"sensor": "truth"'
_TRUE_RANGES = b', "truth": {"ranges_m"'  # begins half of a scan's line, which is not used here
_TRUTH_KEYS = (number("taken_s", 0.0, 1e10), Key("truth", "table"))  # of a line of its sensors
LASER_HEIGHT_M = 0.11  # of f1tenth_system's bringup; vehicle files hold no height
_SET_PIPE_SIZE = getattr(fcntl, "F_SETPIPE_SZ", None)


@dataclass(frozen=True)
class LidarScan:
    """One turn of the LIDAR; a ray without a return is None."""

    taken_s: float  # the car's own time
    first_rad: float
    step_rad: float
    ranges_m: list[float | None]


@quickly_made
@dataclass(frozen=True, slots=True)
class TruePose:
    """The true position of a virtual car's centre of gravity, and its motion."""

    x_m: float
    y_m: float
    yaw_rad: float
    vx_mps: float
    vy_mps: float
    yaw_rate_radps: float


class LinePipe:
    """A non-blocking reader of the lines that a program adds to a named pipe or a file.

    A named pipe has one reader. A file can have any number, each reading from its end at the time
    of opening, and from its beginning if it is begun anew.
    """

    def __init__(self, path: str) -> None:
        """Open the pipe or file. Raises OSError."""
        self._file = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        self._is_file = stat.S_ISREG(os.fstat(self._file).st_mode)
        if self._is_file:
            os.lseek(self._file, 0, os.SEEK_END)
        elif _SET_PIPE_SIZE is not None:
            with suppress(OSError):  # more than this user may have: then it is smaller
                fcntl.fcntl(self._file, _SET_PIPE_SIZE, _PIPE_BYTES)
        self._rest = b""

    def lines(self) -> list[bytes]:
        """Return the whole lines that came since the last call, at most 1 MiB of them."""
        if self._is_file and os.fstat(self._file).st_size < os.lseek(self._file, 0, os.SEEK_CUR):
            os.lseek(self._file, 0, os.SEEK_SET)
            self._rest = b""
        with suppress(BlockingIOError):
            self._rest += os.read(self._file, _READ_MAX)
        *lines, self._rest = self._rest.split(b"\n")
        return lines

    def close(self) -> None:
        os.close(self._file)


class SensorPipe(LinePipe):
    """A non-blocking reader of sensor lines.

    ``lost`` counts lines that were not read in time, or that cannot be read.
    """

    def __init__(self, path: str) -> None:
        """Open the pipe or file. Raises OSError."""
        super().__init__(path)
        self.lost = 0
        self.scan: LidarScan | None = None  # the newest one, until it is taken
        self.truth: TruePose | None = None
        self.hits = 0  # collisions with a wall or another car
        self._now_us = 0
        # host time minus car time of recent lines; its minimum is that of the least delayed one
        self._ahead_us: deque[int] = deque(maxlen=_LATELY)

    def step(self, now_us: int) -> None:
        """Read everything that has come by this moment."""
        self._now_us = now_us
        for line in self.lines():
            if line.startswith((SCAN_BEGINS, _TRUTH_BEGINS)):
                try:
                    self._take(parse_line(line))
                except (ValueError, KeyError, TypeError):
                    self.lost += 1  # of another program, or of a pipe that two read

    def scan_age_us(self, now_us: int) -> int:
        """Return the age of the newest scan in us, by the car's own time."""
        if self.scan is None or not self._ahead_us:
            return 0
        return max(now_us - min(self._ahead_us) - round(self.scan.taken_s * 1e6), 0)

    def take_scan(self) -> LidarScan | None:
        """Return the newest scan, once; None until there is a new one."""
        scan, self.scan = self.scan, None
        return scan

    def _take(self, row: dict[str, Any]) -> None:
        self.lost += row.get("lost", 0)
        self._ahead_us.append(self._now_us - round(row["time_s"] * 1e6))
        if row["sensor"] == "truth":
            truth = row["truth"]
            self.hits = truth.get("hits", 0)
            self.truth = TruePose(*(truth[key] for key in TruePose.__dataclass_fields__))
        else:
            self.scan = LidarScan(
                row["taken_s"], row["first_rad"], row["step_rad"], row["ranges_m"]
            )


def parse_line(line: bytes) -> dict[str, Any]:
    """Parse a line, leaving out the true ranges of a scan.

    Raises ValueError for a line that is none.
    """
    head, _, rest = line.partition(_TRUE_RANGES)
    row: dict[str, Any] = json.loads(head + b"}" if rest else line)
    if rest:
        more = rest.rpartition(b"]}")[2].removeprefix(b", ")
        row.update(json.loads(b"{" + more))
    return row


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
        for row in read_samples(path, "truth", _TRUTH_KEYS):
            truth = row["truth"]
            x_m, y_m, yaw_rad = (finite(truth[name]) for name in ("x_m", "y_m", "yaw_rad"))
            yield TimedPose(row["taken_s"], x_m, y_m, yaw_rad, truth.get("hits"))
    except (ValueError, KeyError, TypeError) as fault:
        raise DataFileFault(
            "no samples of a virtual car's sensors",
            where=str(path),
            expected="a line of JSON for each sample, with the truth beside it",
            got=misread_text(fault),
            remedy="sim://f1tenth?sensors=run.jsonl writes them",
        ) from None
