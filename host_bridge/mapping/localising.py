"""Localisation of a car in a map, scan by scan: of a recorded drive, or beside live odometry."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from math import sqrt

import numpy as np

from host_bridge.core.board_time import unwrapped_us
from host_bridge.core.reports import CarMotion
from host_bridge.logs.sensor_lines import LidarScan
from host_bridge.mapping.drives import ScanSample, with_returns
from host_bridge.mapping.particle_filter import LocatedPose, ParticleFilter
from host_bridge.mapping.planar import Floats, composed
from host_bridge.mapping.scan_points import LidarMount, points_of

_KEPT = 200  # reports of motion, 4 s: a scan comes later than that by no LIDAR
RATE_HZ = 20.0  # of the localiser; scans in between are left out


@dataclass(frozen=True)
class LocatedScan:
    """The place of the car when a scan was taken; ``odometry`` is its own reckoning then."""

    taken_s: float
    odometry: Floats
    located: LocatedPose

    def line(self, centre_m: float) -> str:
        """Return a line of JSON with the pose of the centre of gravity, ``centre_m`` ahead.

        ``odometry`` is the car's own reckoning at that moment, of the point that it turns about.
        """
        pose, spread = self.located.pose, self.located.covariance
        x_m, y_m, yaw_rad = composed(pose, np.array((centre_m, 0.0, 0.0)))
        row = {
            "sensor": "pose",
            "taken_s": round(self.taken_s, 6),
            "x_m": round(x_m, 4),
            "y_m": round(y_m, 4),
            "yaw_rad": round(yaw_rad, 5),
            "std_m": round(sqrt(spread[0, 0] + spread[1, 1]), 4),
            "std_rad": round(sqrt(spread[2, 2]), 5),
            "fit": round(self.located.fit, 3),
            "is_lost": self.located.is_lost,
            "odometry": [round(float(it), 5) for it in self.odometry],
        }
        return json.dumps(row)


def located_drive(
    scans: Iterable[ScanSample], particles: ParticleFilter, mount: LidarMount
) -> Iterator[LocatedScan]:
    """Yield where the car was at each scan, 20 times a second at most."""
    next_s = float("-inf")
    for scan in scans:
        if scan.taken_s >= next_s:
            next_s = max(next_s + 1.0 / RATE_HZ, scan.taken_s)
            yield LocatedScan(
                scan.taken_s, scan.odometry, particles.step(scan.odometry, points_of(scan, mount))
            )


class OdometryTrack:
    """The last reports of a car's motion, for its pose at the time of a scan."""

    def __init__(self) -> None:
        self._rows: deque[tuple[int, float, float, float]] = deque(maxlen=_KEPT)

    def add(self, motion: CarMotion) -> None:
        """Take a report; one that is known already, or older, is left out."""
        captured_us = motion.captured_us
        if self._rows:
            before_us, *_, yaw_rad = self._rows[-1]
            captured_us = unwrapped_us(captured_us, before_us)
            if captured_us <= before_us:
                return
            turn = motion.yaw_rad - yaw_rad
            yaw = motion.yaw_rad - 2 * np.pi * round(turn / (2 * np.pi))
        else:
            yaw = motion.yaw_rad
        self._rows.append((captured_us, motion.x_m, motion.y_m, yaw))

    def sample(self, scan: LidarScan) -> ScanSample | None:
        """Return the scan with the odometry at its time; None before there is odometry for it."""
        rows = np.array(self._rows)
        if len(rows) < 2:
            return None
        taken_us = unwrapped_us(round(scan.taken_s * 1e6), int(rows[-1, 0]))
        if not rows[0, 0] <= taken_us <= rows[-1, 0]:
            return None
        pose = np.array([np.interp(taken_us, rows[:, 0], rows[:, it]) for it in (1, 2, 3)])
        row = {"first_rad": scan.first_rad, "step_rad": scan.step_rad, "ranges_m": scan.ranges_m}
        return with_returns(scan.taken_s, row, pose)
