"""Conversion of a ``tandem replay`` fit into a calibration as from logs, for use on a board.

Only the steering map and the speed at full throttle are taken. Queue, delay and mounting belong to
the log and to whoever measured; the steering's curve beyond what was driven comes from the prior.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from calibration.files.calibration import Calibration
from calibration.parameters import LOG_PARAMETER_NAMES, Estimate, not_identifiable
from calibration.regression.steering_map import SteeringMap
from calibration.simulation.steering_model import wheel_shares
from calibration.vehicles.identified_car import vehicle_file_values
from host_bridge.core import Vehicle

_POINTS = 33  # of the curve: four for each span of the board's nine points
_LEAST_SLOPE = 0.02  # a smaller slope is the end stop


def as_from_logs(vehicle: Vehicle, calibration: Calibration) -> Calibration:
    """Return a fit as logs would tell it, with no value for what a board does not use.

    What logs told is returned as it is.
    """
    if calibration.fit is None:
        return calibration
    lock_rad, values = vehicle.steer_max_rad, calibration.values
    commands = np.linspace(-1.0, 1.0, _POINTS)
    shares = wheel_shares(commands, values)
    is_turning = np.gradient(shares, commands) > _LEAST_SLOPE
    commands, wheel_rad = commands[is_turning], lock_rad * shares[is_turning]
    known = vehicle_file_values(vehicle)
    lost_mps = known["full_effort_mps"] * known["dead_effort"] / (1.0 - known["dead_effort"])
    values_by_name = {
        "steer_trim_rad": lock_rad * values["steer_trim_norm"],
        "full_effort_mps": values["full_effort_mps"],
        "dead_effort": lost_mps / (values["full_effort_mps"] + lost_mps),
    }
    estimates = tuple(
        Estimate(name, values_by_name[name], values_by_name[name], values_by_name[name])
        if name in values_by_name
        else not_identifiable(name, "a fit of tandem replay has it otherwise, or not")
        for name in LOG_PARAMETER_NAMES
    )
    steering_map = SteeringMap(lock_rad * commands, wheel_rad, wheel_rad, wheel_rad, 0.0, True)
    return replace(calibration, estimates=estimates, steering_map=steering_map, fit=None)
