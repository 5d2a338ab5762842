"""The topics of Autoware's vehicle interface."""

from __future__ import annotations

from host_bridge.ros2.vocabularies.autoware.adapter import PLANNER, AutowareAdapter
from host_bridge.ros2.vocabularies.autoware.external import EXTERNAL, EXTERNAL_ROWS
from host_bridge.ros2.vocabularies.topics import (
    STATE_HZ,
    Content,
    MuxRow,
    Publication,
    Subscription,
)
from host_bridge.ros2.vocabularies.vocabulary import Vocabulary

_CONTROL = "autoware_control_msgs/msg/Control"
_MSG = "autoware_vehicle_msgs/msg/"
_COMMAND = "/control/command/"
_STATUS = "/vehicle/status/"
_FRAME = "base_link"

AUTOWARE = Vocabulary(
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
    ),
    mux=(MuxRow(PLANNER, f"{_COMMAND}control_cmd", 10, 0.2), *EXTERNAL_ROWS),
    odom_frame="map",
    base_frame=_FRAME,
    scan_frame="",
    adapter=AutowareAdapter,
)
