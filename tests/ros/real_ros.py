"""The real rclpy in ``.ros``, and what programs need to find it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
ROS = ROOT / ".ros"
NODES = Path(__file__).parent / "user_nodes"
PYTHON = str(ROS / "bin" / "python")

# Marks of a test that needs it, and of one that is also bound to the wall clock
NEEDS_ROS = pytest.mark.skipif(
    not (ROS / ".set-up").exists(),
    reason="no ROS 2 in .ros: make setup makes one on Linux, x86_64",
)
IN_REAL_TIME = [pytest.mark.ros(drives=True), NEEDS_ROS, pytest.mark.xdist_group("wall clock")]


def environment(log: str, domain: int, reach: str) -> dict[str, str]:
    """``log`` is a folder; ``domain`` and ``reach`` say whom its nodes discover."""
    path = [str(ROOT), str(ROOT / "host_bridge" / "api"), os.environ.get("PYTHONPATH", "")]
    return {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(filter(None, path)),
        "LD_LIBRARY_PATH": str(ROS / "lib"),
        "AMENT_PREFIX_PATH": str(ROS),
        "ROS_LOG_DIR": log,
        "ROS_DOMAIN_ID": str(domain),
        "ROS_AUTOMATIC_DISCOVERY_RANGE": reach,
    }
