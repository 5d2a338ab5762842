"""``pose=localise:MAP.yaml``: a particle filter as the pose source of a car in lockstep.

It runs in the car's own virtual time, on the scans of the car's own LIDAR. Beside a car in the time
of the world the localiser is a program of its own, ``tandem localise``.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from pathlib import Path

import numpy as np

from host_bridge.core import CarMotion, VirtualSensors
from host_bridge.core.errors import DataFileFault, UsageFault
from host_bridge.core.files import raised_as
from host_bridge.core.vehicle import Vehicle
from host_bridge.logs.sensor_lines import LidarScan
from host_bridge.mapping.likelihood_field import LikelihoodField
from host_bridge.mapping.localising import RATE_HZ, LocatedScan, sample_of
from host_bridge.mapping.particle_filter import ParticleFilter
from host_bridge.mapping.planar import composed
from host_bridge.mapping.poses.lines import localised
from host_bridge.mapping.poses.odometry_track import OdometryTrack
from host_bridge.mapping.poses.report import Pose, PoseContext, PoseReport, heard
from host_bridge.mapping.scan_points import mount_of, points_of
from sim_mock.tracks.ros_map import load_grid

SEED = 1  # the same drive gives the same poses
_ORIGIN = (0.0, 0.0, 0.0)  # where tandem map has the drive's beginning
_EXAMPLE = "pose=localise:lab.yaml"


def field_of_map(path: Path) -> LikelihoodField:
    """Return the likelihood field of a ROS map. Raises errors.DataFileFault."""
    with raised_as():
        grid = load_grid(path)
    try:
        return LikelihoodField(grid.is_wall, grid.is_free, grid.resolution_m, np.array(grid.origin))
    except ValueError as fault:
        raise DataFileFault(
            "nobody can be found in this map",
            where=str(path),
            expected="walls, and free cells between them",
            got="; ".join((str(fault), *grid.notes)),
        ) from None


def particles_in(field: LikelihoodField, vehicle: Vehicle, start: Pose | None) -> ParticleFilter:
    """Return a localiser that begins with the centre of gravity at ``start``; None: anywhere."""
    particles = ParticleFilter(field, SEED)
    if start is not None:
        behind = np.array((-vehicle.turns_behind_centre_m, 0.0, 0.0))
        particles.place(composed(np.array(start), behind))
    return particles


class LocalisedPoses:
    """The poses of a localiser in the program that runs the car."""

    title = "localiser"

    def __init__(
        self, particles: ParticleFilter, vehicle: Vehicle, sensors: VirtualSensors
    ) -> None:
        """Raises errors.VehicleFileFault for a vehicle without a LIDAR."""
        self._particles, self._sensors = particles, sensors
        self._mount, self._centre_m = mount_of(vehicle), vehicle.turns_behind_centre_m
        self._track = OdometryTrack()
        self._waits: LidarScan | None = None
        self._due_us, self._taken_us = 0, 0

    def take(self, now_us: int, motion: CarMotion) -> Sequence[PoseReport | str]:
        """Locate the car by its newest scan, 20 times a second."""
        self._track.add(motion)
        if self._waits is None and self._sensors.now_us >= self._due_us:
            self._waits = self._new_scan()
        sample = sample_of(self._waits, self._track) if self._waits else None
        if self._waits and self._waits.taken_s * 1e6 <= self._track.newest_us:
            self._waits = None  # it has its odometry now, or is older than all there is
        if sample is not None:
            located = self._particles.step(sample.odometry, points_of(sample, self._mount))
            report = localised(
                LocatedScan(sample.taken_s, sample.odometry, located).row(self._centre_m)
            )
            self._sensors.say_pose(report.pose, report)
        return heard(self._sensors)

    def close(self) -> None:
        """Do nothing: the sensors are the car's."""

    def _new_scan(self) -> LidarScan | None:
        turn = self._sensors.scan()
        if turn is None or turn.taken_us <= self._taken_us:
            return None
        self._taken_us, self._due_us = turn.taken_us, turn.taken_us + round(1e6 / RATE_HZ)
        ranges_m = [float(it) if isfinite(it) else None for it in turn.ranges_m]
        return LidarScan(turn.taken_us * 1e-6, turn.first_rad, turn.step_rad, ranges_m)


def make(rest: str, context: PoseContext) -> LocalisedPoses:
    """Make the source of ``pose=localise:MAP.yaml``; the car begins at ``at=``, or the origin.

    Raises errors.UsageFault for a car whose LIDAR is not in this program, errors.DataFileFault for
    what is no map.
    """
    if not rest:
        raise UsageFault("in which map?", expected=_EXAMPLE)
    sensors = context.sensors
    if sensors is None:
        raise UsageFault(
            "beside a car in the time of the world the localiser is a program of its own",
            got=f"pose=localise:{rest}",
            remedy="mkfifo POSES; tandem localise "
            f"{rest} --car CAR --lidar SCANS -o POSES; then pose=POSES. Or --lockstep",
        )
    if sensors.why_no_scan:
        raise UsageFault("this car has no scan", got=sensors.why_no_scan)
    start = context.start or _ORIGIN
    particles = particles_in(field_of_map(Path(rest)), context.vehicle, start)
    return LocalisedPoses(particles, context.vehicle, sensors)
