"""The topics of Autoware's vehicle interface."""

from __future__ import annotations

from dataclasses import replace

from host_bridge.ros2.vocabularies.autoware.adapter import (
    PLANNER,
    AutowareAdapter,
    AutowareAutoAdapter,
)
from host_bridge.ros2.vocabularies.autoware.external import EXTERNAL, EXTERNAL_ROWS
from host_bridge.ros2.vocabularies.topics import (
    ODOMETRY_TYPE,
    SCAN_HZ,
    SCAN_TYPE,
    STATE_HZ,
    TF_TYPE,
    Content,
    MuxRow,
    Publication,
    Subscription,
)
from host_bridge.ros2.vocabularies.vocabulary import Vocabulary

_CONTROL = "autoware_control_msgs/msg/Control"
_OLD_CONTROL = "autoware_auto_control_msgs/msg/AckermannControlCommand"
_OLD_MSG = "autoware_auto_vehicle_msgs/msg/"
_MSG = "autoware_vehicle_msgs/msg/"
_COMMAND = "/control/command/"
_STATUS = "/vehicle/status/"
_LOCALIZATION = "/localization/"
_IMU = "sensor_msgs/msg/Imu"
_FRAME, _MAP, _LASER = "base_link", "map", "laser"

_NEW = Vocabulary(
    name="autoware",
    title="Autoware's vehicle interface",
    subscriptions=(
        Subscription(f"{_COMMAND}control_cmd", _CONTROL, Content.CONTROL, PLANNER),
        Subscription(f"{_COMMAND}gear_cmd", f"{_MSG}GearCommand", Content.GEAR, PLANNER),
        Subscription(
            f"{_COMMAND}turn_indicators_cmd", f"{_MSG}TurnIndicatorsCommand", Content.TURN, PLANNER
        ),
        Subscription(
            f"{_COMMAND}hazard_lights_cmd", f"{_MSG}HazardLightsCommand", Content.HAZARD, PLANNER
        ),
        Subscription(
            f"{_COMMAND}emergency_cmd",
            "tier4_vehicle_msgs/msg/VehicleEmergencyStamped",
            Content.EMERGENCY,
            PLANNER,
            is_optional=True,
        ),
        Subscription("/vehicle/engage", f"{_MSG}Engage", Content.ENGAGE, PLANNER),
        *EXTERNAL,
    ),
    publications=(
        Publication(
            f"{_STATUS}velocity_status", f"{_MSG}VelocityReport", Content.SPEEDS, STATE_HZ, _FRAME
        ),
        Publication(
            f"{_STATUS}steering_status", f"{_MSG}SteeringReport", Content.TYRE_ANGLE, STATE_HZ
        ),
        Publication(f"{_STATUS}gear_status", f"{_MSG}GearReport", Content.GEAR, STATE_HZ),
        Publication(
            f"{_STATUS}control_mode", f"{_MSG}ControlModeReport", Content.CONTROL_MODE, STATE_HZ
        ),
        Publication(
            f"{_STATUS}turn_indicators_status",
            f"{_MSG}TurnIndicatorsReport",
            Content.TURN,
            STATE_HZ,
        ),
        Publication(
            f"{_STATUS}hazard_lights_status", f"{_MSG}HazardLightsReport", Content.HAZARD, STATE_HZ
        ),
        Publication("/sensing/imu/imu_data", _IMU, Content.IMU, STATE_HZ, _FRAME),
        Publication(
            "/sensing/vehicle_velocity_converter/twist_with_covariance",
            "geometry_msgs/msg/TwistWithCovarianceStamped",
            Content.WHEEL_TWIST,
            STATE_HZ,
            _FRAME,
        ),
        Publication("/sensing/lidar/scan", SCAN_TYPE, Content.SCAN, SCAN_HZ, _LASER),
        # In place of Autoware's localisation, which is a real car's own
        Publication(
            f"{_LOCALIZATION}kinematic_state",
            ODOMETRY_TYPE,
            Content.TRUTH,
            STATE_HZ,
            _MAP,
            is_of_virtual=True,
        ),
        Publication(
            f"{_LOCALIZATION}acceleration",
            "geometry_msgs/msg/AccelWithCovarianceStamped",
            Content.ACCELERATION,
            STATE_HZ,
            _FRAME,
            is_of_virtual=True,
        ),
        Publication("/tf", TF_TYPE, Content.TRANSFORM, STATE_HZ, _MAP, is_of_virtual=True),
    ),
    mux=(MuxRow(PLANNER, f"{_COMMAND}control_cmd", 10, 0.2), *EXTERNAL_ROWS),
    odom_frame=_MAP,
    base_frame=_FRAME,
    scan_frame=_LASER,
    adapter=AutowareAdapter,
)


def _old_type(name: str) -> str:
    """Return a type's name in the messages of before 2024, whose fields but two are the same."""
    return _OLD_CONTROL if name == _CONTROL else name.replace(_MSG, _OLD_MSG)


AUTOWARE_AUTO = replace(
    _NEW,
    name="autoware_auto",
    title="Autoware's vehicle interface in the messages of before 2024, autoware_auto_*",
    subscriptions=tuple(replace(it, type=_old_type(it.type)) for it in _NEW.subscriptions),
    publications=tuple(replace(it, type=_old_type(it.type)) for it in _NEW.publications),
    adapter=AutowareAutoAdapter,
)
AUTOWARE = replace(_NEW, older=AUTOWARE_AUTO)
