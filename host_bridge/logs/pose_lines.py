"""Requests to place a virtual car, as lines of JSON into the named pipe that it reads.

The car moves there if it stands and if there is room; its ground truth shows whether it did.
"""

from __future__ import annotations

import json
import os
from math import hypot, remainder, tau

from host_bridge.logs.sensor_lines import TruePose

# Slower, or nearer than this, a car stands, and is where it was put: a count of its wheels is some
# mm
_STANDS_MPS = 0.02
_THERE_M, _THERE_RAD = 0.02, 0.02
Place = tuple[float, float, float]  # the centre of gravity's x and y in m, yaw in rad


def put(pipe: str, place: Place) -> None:
    """Send the request. Raises OSError if no car reads the pipe."""
    line = json.dumps(dict(zip(("x_m", "y_m", "yaw_rad"), place, strict=True)))
    with open(os.open(pipe, os.O_WRONLY | os.O_NONBLOCK), "w") as file:
        file.write(line + "\n")


def stands(truth: TruePose | None, reckoned_mps: float) -> bool:
    """Return whether it stands, in truth and by its own reckoning, so that it can be placed."""
    is_slow = truth is not None and hypot(truth.vx_mps, truth.vy_mps) < _STANDS_MPS
    return is_slow and abs(reckoned_mps) < _STANDS_MPS


def is_there(truth: TruePose | None, place: Place) -> bool:
    """Return whether it is at this place, within 2 cm and 0.02 rad."""
    if truth is None:
        return False
    off_m = hypot(truth.x_m - place[0], truth.y_m - place[1])
    return off_m < _THERE_M and abs(remainder(truth.yaw_rad - place[2], tau)) < _THERE_RAD
