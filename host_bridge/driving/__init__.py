"""Driving cars from one place: the inputs, the cars, the session between them, and the display."""

from host_bridge.driving.drive import Drive, Phase
from host_bridge.driving.follow import FollowPlan, FollowView, follow
from host_bridge.driving.plan import Plan
from host_bridge.driving.run import drive, drive_both
from host_bridge.driving.view import View

__all__ = [
    "Drive",
    "FollowPlan",
    "FollowView",
    "Phase",
    "Plan",
    "View",
    "drive",
    "drive_both",
    "follow",
]
