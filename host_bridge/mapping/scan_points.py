"""Points of a scan on walls, with the walls' normals, and the scans of a drive that are kept."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import hypot, radians

import numpy as np

from host_bridge.core.errors import VehicleFileFault
from host_bridge.core.vehicle import Vehicle
from host_bridge.mapping.drives import ScanSample
from host_bridge.mapping.planar import Floats, between

# Scans so far apart are kept: walls overlap by far, and a lap of 50 m has some 120 of them
_APART_M, _APART_RAD = 0.4, radians(15.0)
_NEIGHBOURS = 3  # rays to either side whose chord is the wall's direction
_CHORD_M = 0.6  # a longer chord spans a gap between walls
_FLAT_M = 0.04  # a point farther from its chord lies in a corner, whose normal is none


@dataclass(frozen=True)
class LidarMount:
    """The place of the LIDAR on the car, ``ahead_m`` of the point that dead reckoning tracks.

    That is the rear axle, or the middle of a car that steers both axles.
    """

    ahead_m: float


@dataclass(frozen=True)
class KeyScan:
    """A scan that is kept: its sample, and rows of x, y as seen from the point that it turns about.

    ``walls`` are the points that lie on a flat piece of wall, ``normals`` their unit normals.
    """

    sample: ScanSample
    points_m: Floats
    walls_m: Floats
    normals: Floats


def mount_of(vehicle: Vehicle) -> LidarMount:
    """Return the place of a vehicle's LIDAR. Raises errors.VehicleFileFault if it has none."""
    lidar = vehicle.plant.get("lidar")
    if not isinstance(lidar, Mapping):
        raise VehicleFileFault(
            "this vehicle has no LIDAR",
            where=str(vehicle.path),
            expected="[plant.lidar] with its place on the car, ahead_m of the rear axle",
            remedy="add the table, or name another vehicle file: --vehicle",
        )
    return LidarMount(float(lidar["ahead_m"]) - vehicle.turns_ahead_m)


def key_scans(scans: list[ScanSample], mount: LidarMount) -> list[KeyScan]:
    """Return the scans that are at least 0.4 m or 15 degrees apart by the odometry."""
    kept: list[KeyScan] = []
    for scan in scans:
        if kept:
            apart = between(kept[-1].sample.odometry, scan.odometry)
            if hypot(apart[0], apart[1]) < _APART_M and abs(apart[2]) < _APART_RAD:
                continue
        kept.append(_key_scan(scan, mount))
    return kept


def points_of(scan: ScanSample, mount: LidarMount) -> Floats:
    """Return the ends of the rays, rows of x, y in m, as seen from what the car turns about."""
    is_return = np.isfinite(scan.ranges_m)
    bearings = scan.bearings_rad[is_return]
    ranges = scan.ranges_m[is_return]
    return np.stack((mount.ahead_m + ranges * np.cos(bearings), ranges * np.sin(bearings)), axis=1)


def _key_scan(scan: ScanSample, mount: LidarMount) -> KeyScan:
    points = points_of(scan, mount)
    if len(points) <= 2 * _NEIGHBOURS:
        return KeyScan(scan, points, points[:0], points[:0])
    before, middle = points[: -2 * _NEIGHBOURS], points[_NEIGHBOURS:-_NEIGHBOURS]
    chord = points[2 * _NEIGHBOURS :] - before
    length_m = np.maximum(np.hypot(chord[:, 0], chord[:, 1]), 1e-9)  # no division by zero
    normals = np.stack((-chord[:, 1], chord[:, 0]), axis=1) / length_m[:, None]
    off_m = np.abs(np.sum((middle - before) * normals, axis=1))
    is_flat = (length_m < _CHORD_M) & (off_m < _FLAT_M)
    return KeyScan(scan, points, middle[is_flat], normals[is_flat])
