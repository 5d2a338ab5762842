"""Driving cars from one place: the inputs, the cars, the session between them, and the display."""

from host_bridge.drive.display.view import DriveDisplay
from host_bridge.drive.drive import FleetDrive, Phase
from host_bridge.drive.follow import FollowOptions, FollowView, follow
from host_bridge.drive.lockstep.command import drive_in_lockstep
from host_bridge.drive.options import DriveOptions
from host_bridge.drive.run import drive, drive_both

__all__ = [
    "DriveDisplay",
    "DriveOptions",
    "FleetDrive",
    "FollowOptions",
    "FollowView",
    "Phase",
    "drive",
    "drive_both",
    "drive_in_lockstep",
    "follow",
]
