"""Localisation of a car in a map, scan by scan: of a recorded drive, or beside live odometry."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np

from host_bridge.logs.sensor_lines import LidarScan
from host_bridge.mapping.drives import ScanSample, with_returns
from host_bridge.mapping.particle_filter import LocatedPose, ParticleFilter
from host_bridge.mapping.planar import Floats, composed
from host_bridge.mapping.poses.odometry_track import OdometryTrack
from host_bridge.mapping.scan_points import LidarMount, points_of

RATE_HZ = 20.0  # of the localiser; scans in between are left out


@dataclass(frozen=True)
class LocatedScan:
    """The place of the car when a scan was taken; ``odometry`` is its own reckoning then."""

    taken_s: float
    odometry: Floats
    located: LocatedPose

    def line(self, centre_m: float) -> str:
        """Return the row as a line of JSON."""
        return json.dumps(self.row(centre_m))

    def row(self, centre_m: float) -> dict[str, Any]:
        """Return the pose of the centre of gravity, ``centre_m`` ahead, by the keys of a line.

        ``odometry`` is the car's own reckoning at that moment, of the point that it turns about.
        """
        pose, spread = self.located.pose, self.located.covariance
        x_m, y_m, yaw_rad = composed(pose, np.array((centre_m, 0.0, 0.0)))
        return {
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


def sample_of(scan: LidarScan, track: OdometryTrack) -> ScanSample | None:
    """Return the scan with the odometry at its time; None before there is odometry for it."""
    if not track.has_any:
        return None
    odometry = track.at(track.car_us(round(scan.taken_s * 1e6), is_host_time=False))
    if odometry is None:
        return None
    row = {"first_rad": scan.first_rad, "step_rad": scan.step_rad, "ranges_m": scan.ranges_m}
    return with_returns(scan.taken_s, row, np.array(odometry))
