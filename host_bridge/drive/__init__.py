"""Driving cars from one place: the inputs, the cars, the session between them, and the display."""

from host_bridge.drive.drive import Drive, Phase
from host_bridge.drive.follow import FollowOptions, FollowView, follow
from host_bridge.drive.options import DriveOptions
from host_bridge.drive.run import drive, drive_both
from host_bridge.drive.view import View

__all__ = [
    "Drive",
    "DriveOptions",
    "FollowOptions",
    "FollowView",
    "Phase",
    "View",
    "drive",
    "drive_both",
    "follow",
]
