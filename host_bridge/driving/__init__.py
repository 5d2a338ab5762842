"""Driving cars from one place: the inputs, the cars, the session between them, and what is seen."""

from host_bridge.driving.drive import Drive, Phase
from host_bridge.driving.follow import FollowPlan, FollowView, follow
from host_bridge.driving.plan import Plan, View
from host_bridge.driving.run import drive

__all__ = ["Drive", "FollowPlan", "FollowView", "Phase", "Plan", "View", "drive", "follow"]
