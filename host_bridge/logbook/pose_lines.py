"""Where a virtual car is to be put, as lines of JSON into the named pipe that it reads.

It goes there when it stands and where there is room for it; whether it did, its truth tells.
"""

from __future__ import annotations

import json
import os
from math import hypot, remainder, tau

from host_bridge.logbook.sensor_lines import Truth

_STANDS_MPS = 0.02
_THERE_M, _THERE_RAD = 0.02, 0.02
Place = tuple[float, float, float]  # x and y of the centre of gravity in m, yaw in rad


def put(pipe: str, place: Place) -> None:
    """Ask for it. Raises OSError where no car reads the pipe."""
    line = json.dumps(dict(zip(("x_m", "y_m", "yaw_rad"), place, strict=True)))
    with open(os.open(pipe, os.O_WRONLY | os.O_NONBLOCK), "w") as file:
        file.write(line + "\n")


def stands(truth: Truth | None, reckoned_mps: float) -> bool:
    """Say whether it would be put elsewhere now: in truth, and by its own reckoning."""
    is_slow = truth is not None and hypot(truth.vx_mps, truth.vy_mps) < _STANDS_MPS
    return is_slow and abs(reckoned_mps) < _STANDS_MPS


def is_there(truth: Truth | None, place: Place) -> bool:
    """Say whether it has been put there."""
    if truth is None:
        return False
    off_m = hypot(truth.x_m - place[0], truth.y_m - place[1])
    return off_m < _THERE_M and abs(remainder(truth.yaw_rad - place[2], tau)) < _THERE_RAD
