"""The topics and services of simple_planning_simulator, as tables."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import NamedTuple

_VEHICLE = "autoware_vehicle_msgs/msg/"
_CONTROL = "autoware_control_msgs/msg/Control"
_OLD_VEHICLE = "autoware_auto_vehicle_msgs/msg/"
_OLD_CONTROL = "autoware_auto_control_msgs/msg/AckermannControlCommand"
_STATUS = "/vehicle/status/"
CONTROL_MODE_REQUEST = "/control/control_mode_request"
SET_POSE = "/api/simulator/set/pose"
SET_POSE_TYPE = "tier4_external_api_msgs/srv/InitializePose"
# Topic names after their launch file: full_motion or only the pose stands in for localisation
_DEBUG = "/simulation/debug"
MOTION_TOPICS = {
    "full_motion": (
        "/localization/kinematic_state",
        "/localization/acceleration",
        f"{_DEBUG}/localization/pose_estimator/pose_with_covariance",
    ),
    "pose_only": (
        f"{_DEBUG}/localization/kinematic_state",
        f"{_DEBUG}/localization/acceleration",
        "/localization/pose_estimator/pose_with_covariance",
    ),
}


class Topic(Enum):
    """The published messages: type, and topic where the mode of publishing does not choose it."""

    MODE = (f"{_VEHICLE}ControlModeReport", f"{_STATUS}control_mode")
    ODOMETRY = ("nav_msgs/msg/Odometry", "")
    ACCELERATION = ("geometry_msgs/msg/AccelWithCovarianceStamped", "")
    POSE = ("geometry_msgs/msg/PoseWithCovarianceStamped", "")
    VELOCITY = (f"{_VEHICLE}VelocityReport", f"{_STATUS}velocity_status")
    IMU = ("sensor_msgs/msg/Imu", "/sensing/imu/imu_data")
    GEAR = (f"{_VEHICLE}GearReport", f"{_STATUS}gear_status")
    TURN = (f"{_VEHICLE}TurnIndicatorsReport", f"{_STATUS}turn_indicators_status")
    HAZARD = (f"{_VEHICLE}HazardLightsReport", f"{_STATUS}hazard_lights_status")
    TF = ("tf2_msgs/msg/TFMessage", "/tf")
    STEERING = (f"{_VEHICLE}SteeringReport", f"{_STATUS}steering_status")


INITIAL_POSE = "/initialpose3d"
# topic -> type, and the method that handles it
SUBSCRIPTIONS = {
    INITIAL_POSE: ("geometry_msgs/msg/PoseWithCovarianceStamped", "_hear_pose"),
    "input/initialtwist": ("geometry_msgs/msg/TwistStamped", "_hear_twist"),
    "/control/command/control_cmd": (_CONTROL, "_hear_control"),
    "/vehicle/command/manual_control_cmd": (_CONTROL, "_hear_manual"),
    "/control/command/gear_cmd": (f"{_VEHICLE}GearCommand", "_hear_gear"),
    "/vehicle/command/manual_gear_command": (f"{_VEHICLE}GearCommand", "_hear_manual_gear"),
    "/control/command/turn_indicators_cmd": (f"{_VEHICLE}TurnIndicatorsCommand", "_hear_turn"),
    "/control/command/hazard_lights_cmd": (f"{_VEHICLE}HazardLightsCommand", "_hear_hazard"),
    "/vehicle/engage": (f"{_VEHICLE}Engage", "_hear_engage"),
}


class Generation(NamedTuple):
    """One generation of Autoware's messages: its service, and what differs in name."""

    mode_service: str
    speed_field: str  # of a control command's longitudinal part
    is_old: bool = False

    def type_of(self, name: str) -> str:
        """Return a type's name in this generation."""
        if not self.is_old:
            return name
        return _OLD_CONTROL if name == _CONTROL else name.replace(_VEHICLE, _OLD_VEHICLE)


NEW = Generation("autoware_vehicle_msgs/srv/ControlModeCommand", "velocity")
OLD = Generation("autoware_auto_vehicle_msgs/srv/ControlModeCommand", "speed", is_old=True)


def installed_generation(has: Callable[[str], bool]) -> Generation:
    """Return the older generation where this Python has that one alone, else the newer."""
    return OLD if not has(_CONTROL) and has(_OLD_CONTROL) else NEW
