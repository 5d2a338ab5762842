"""The option ``--start``: where a car begins, in a map."""

from __future__ import annotations

from host_bridge.core.errors import UsageFault
from host_bridge.inputs.paths.path import Pose, parse_pose


def parse_start(text: str) -> Pose:
    """Parse X,Y,YAW_DEG into x and y in m and yaw in rad. Raises errors.UsageFault."""
    try:
        return parse_pose(text)
    except ValueError:
        raise UsageFault(
            "--start is no pose",
            expected="X,Y,YAW_DEG: metres and degrees, as in --start 1.2,0.4,90",
            got=text,
        ) from None
