"""Paths to drive along: read from files or made from drives, followed, and measured against."""

from host_bridge.inputs.paths.follower import PathFollower, make
from host_bridge.inputs.paths.path import Path
from host_bridge.inputs.paths.path_file import read_path, write_path
from host_bridge.inputs.paths.recorded_drive import path_of_drive
from host_bridge.inputs.paths.tracking_error import PositionSample, TrackingError

__all__ = [
    "Path",
    "PathFollower",
    "PositionSample",
    "TrackingError",
    "make",
    "path_of_drive",
    "read_path",
    "write_path",
]
