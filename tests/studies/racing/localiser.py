"""A localiser beside a car in virtual time: the particle filter of ``tandem localise``, late.

It is the program's own code (odometry track, particle filter, the lines that it writes), run in
lockstep instead of in a process. A scan's pose comes so late as a program beside the car had it.
"""

from __future__ import annotations

from math import isfinite

import numpy as np

from host_bridge.drive.lockstep.car import LockstepCar
from host_bridge.logs.sensor_lines import LidarScan
from host_bridge.mapping.likelihood_field import LikelihoodField
from host_bridge.mapping.localising import RATE_HZ, LocatedScan, sample_of
from host_bridge.mapping.particle_filter import ParticleFilter
from host_bridge.mapping.planar import composed
from host_bridge.mapping.poses.odometry_track import OdometryTrack
from host_bridge.mapping.scan_points import mount_of, points_of
from sim_mock.tracks.driving_area import DrivingArea
from sim_mock.virtual_car.on_board_sensors import OnBoardSensors
from tests.studies.racing.driving import PoseFile

CELL_M = 0.05  # of the map: that of most maps
LATE_US = 50_000  # of a pose: a turn of the LIDAR, 5 ms of computing, a line to the follower


def field_of(area: DrivingArea) -> LikelihoodField:
    """A track as a map has it: cells that are free, and walls in those beside them."""
    corners = area.walls.reshape(-1, 2)
    least, most = corners.min(axis=0) - 2 * CELL_M, corners.max(axis=0) + 2 * CELL_M
    columns, rows = np.ceil((most - least) / CELL_M).astype(int)
    x, y = np.meshgrid(np.arange(columns), np.arange(rows))
    centres = least + CELL_M * (np.stack((x, y), axis=-1).reshape(-1, 2) + 0.5)
    is_free = np.array([area.is_free(*it) for it in centres]).reshape(rows, columns)
    is_wall = np.zeros_like(is_free)
    for x1, y1, x2, y2 in area.walls:
        count = int(np.hypot(x2 - x1, y2 - y1) / CELL_M * 4) + 2
        along = np.linspace((x1, y1), (x2, y2), count)
        column, row = ((along - least) / CELL_M).astype(int).T
        is_wall[row, column] = True
    return LikelihoodField(is_wall, is_free & ~is_wall, CELL_M, np.array((*least, 0.0)))


class LockstepLocaliser:
    """Writes the poses of one car, tick by tick."""

    def __init__(
        self, car: LockstepCar, poses: PoseFile, field: LikelihoodField, seed: int
    ) -> None:
        self._car, self._poses = car, poses
        self._sensors = OnBoardSensors(car.world, car.surroundings)
        self._mount = mount_of(car.vehicle)
        self._ahead_m = car.vehicle.turns_behind_centre_m
        self._particles = ParticleFilter(field, seed)
        behind = np.array((-self._ahead_m, 0.0, 0.0))
        self._particles.place(composed(np.array(car.surroundings.start), behind))
        self._track = OdometryTrack()
        self._next_s = float("-inf")
        self._waits: LidarScan | None = None
        self._truth = (0.0, 0.0)
        self.errors_m: list[float] = []

    def tick(self) -> None:
        """After each tick of the drive."""
        now_us = self._car.clock.now_us()
        if self._car.car.motion is not None:
            self._track.add(self._car.car.motion)
        turn = self._sensors.scan() if self._is_due() else None
        if turn is not None and turn.taken_us * 1e-6 >= self._next_s:
            ranges_m = [float(it) if isfinite(it) else None for it in turn.ranges_m]
            self._waits = LidarScan(turn.taken_us * 1e-6, turn.first_rad, turn.step_rad, ranges_m)
            self._next_s = self._waits.taken_s + 1.0 / RATE_HZ
            self._truth = self._car.world.plant.truth.values()[:2]
        self._locate(now_us)

    def _is_due(self) -> bool:
        return self._car.world.now_us * 1e-6 >= self._next_s

    def _locate(self, now_us: int) -> None:
        sample = sample_of(self._waits, self._track) if self._waits is not None else None
        if sample is None:
            return
        self._waits = None
        located = self._particles.step(sample.odometry, points_of(sample, self._mount))
        row = LocatedScan(sample.taken_s, sample.odometry, located)
        self._poses.put(now_us + LATE_US, row.line(self._ahead_m))
        x, y, _ = composed(located.pose, np.array((self._ahead_m, 0.0, 0.0)))
        self.errors_m.append(float(np.hypot(x - self._truth[0], y - self._truth[1])))
