"""The baseline that needs no log: wheels roll where they point, at once, at the published speed.

It has no trim, no lag and no queue. A calibration is measured against it.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import cos, sin
from typing import NamedTuple

import numpy as np

from calibration.logs.run import Run
from calibration.simulation.command_queue import CommandChange, command_changes
from calibration.simulation.plant_numbers import plant_parameters
from calibration.simulation.poses import Poses, as_odometry
from host_bridge.core import Vehicle
from sim_mock.plant.body import BodyInput, BodyParameters

MOST_TURN_RAD = 0.01  # per straight piece: it differs from the arc by 4e-6 of its length


class KinematicNumbers(NamedTuple):
    """The numbers of a vehicle file that the kinematic baseline uses.

    Speed at full throttle, full lock of the front wheels, and the ratio of the rear wheels' angle
    to that of the front wheels.
    """

    speed_mps: float
    steer_max_rad: float
    rear_ratio: float


def kinematic_numbers(vehicle: Vehicle) -> KinematicNumbers:
    """Return the vehicle file's numbers."""
    rear = [one.wheel_ratio for one in plant_parameters(vehicle).steering if one.axle == "rear"]
    return KinematicNumbers(vehicle.speed_max_mps, vehicle.steer_max_rad, rear[0] if rear else 0.0)


def kinematic(run: Run, car: KinematicNumbers, body: BodyParameters) -> Poses:
    """Return the centre of gravity's poses at the odometry's times, from the run's start pose."""
    schedule = command_changes(run.commands, run.commands.t_s)
    times_s = run.odometry.t_s
    path = np.array(_path(schedule, car, body, float(times_s[-1]))).T
    own = Poses(*(np.interp(times_s, path[0], column) for column in path[1:]))
    return as_odometry(own, run.start_pose(), 0.0, 0.0)


def _path(
    schedule: Sequence[CommandChange], car: KinematicNumbers, body: BodyParameters, end_s: float
) -> list[tuple[float, float, float, float]]:
    """Return rows of t_s, x_m, y_m, yaw_rad, close enough to be joined by straight lines."""
    u = BodyInput(body)
    x_m = y_m = yaw_rad = 0.0
    rows = [(schedule[0].t_s, x_m, y_m, yaw_rad)]
    for now, then in pairwise([*schedule, CommandChange(max(end_s, schedule[-1].t_s), 0.0, 0.0)]):
        steer_rad = now.steering_norm * car.steer_max_rad
        u.steer(steer_rad, car.rear_ratio * steer_rad, body)
        along_m = now.throttle_norm * car.speed_mps * (then.t_s - now.t_s)
        count = 1 + int(abs(along_m * u.turn_per_m) / MOST_TURN_RAD)
        for i in range(count):
            middle_rad = yaw_rad + 0.5 * along_m / count * u.turn_per_m
            x_m += along_m / count * (cos(middle_rad) - u.sway * sin(middle_rad))
            y_m += along_m / count * (sin(middle_rad) + u.sway * cos(middle_rad))
            yaw_rad += along_m / count * u.turn_per_m
            t_s = now.t_s + (then.t_s - now.t_s) * (i + 1) / count
            rows.append((t_s, x_m, y_m, yaw_rad))
    return rows
