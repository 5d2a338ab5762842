"""Paths to drive along: read from files or made from drives, followed, and measured against."""

from host_bridge.inputs.paths.follower import PathFollower, make
from host_bridge.inputs.paths.making import path_of_drive
from host_bridge.inputs.paths.measuring import PositionSample, TrackingError
from host_bridge.inputs.paths.path import Path
from host_bridge.inputs.paths.path_file import read_path, write_path

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
