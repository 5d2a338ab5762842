"""ROS 2 message types by the library ``rosbags``, completed by those that it lacks.

Only bags need them: a node has the classes of its ROS 2.
"""

from __future__ import annotations

from functools import lru_cache
from importlib import import_module
from typing import Any

import numpy as np

from host_bridge.core.errors import DeviceFault

# AutoRally's messages name their fields as ROS 1 allows; {} has a field's second and later words.
_CHASSIS_COMMAND = """\
std_msgs/Header header
string sender
float64 throttle
float64 steering
float64 {brake}
"""
_CHASSIS_STATE = """\
std_msgs/Header header
bool {relay}
bool {autonomous}
bool {runstop}
string {steerer}
float64 steering
string {driver}
float64 throttle
string {braker}
float64 {brake}
"""
_WHEEL_SPEEDS = """\
std_msgs/Header header
float64 {left_front}
float64 {right_front}
float64 {left_back}
float64 {right_back}
"""
_VELOCITY = """\
std_msgs/Header header
float32 longitudinal_velocity
float32 lateral_velocity
float32 heading_rate
"""
_ROS1_FIELDS = {
    "left_front": "lfSpeed",
    "right_front": "rfSpeed",
    "left_back": "lbSpeed",
    "right_back": "rbSpeed",
    "brake": "frontBrake",
    "relay": "throttleRelayEnabled",
    "autonomous": "autonomousEnabled",
    "runstop": "runstopMotionEnabled",
    "steerer": "steeringCommander",
    "driver": "throttleCommander",
    "braker": "frontBrakeCommander",
}
_ROS2_FIELDS = {
    "left_front": "lf_speed",
    "right_front": "rf_speed",
    "left_back": "lb_speed",
    "right_back": "rb_speed",
    "brake": "front_brake",
    "relay": "throttle_relay_enabled",
    "autonomous": "autonomous_enabled",
    "runstop": "runstop_motion_enabled",
    "steerer": "steering_commander",
    "driver": "throttle_commander",
    "braker": "front_brake_commander",
}

# F1TENTH's commands and its motor controller's state, and the commands and speeds of Autoware, of
# both generations, and of AutoRally. These are the definitions in their packages, which are not
# part of ROS 2.
_DEFINITIONS = {
    "autorally_msgs/msg/chassisCommand": _CHASSIS_COMMAND.format(**_ROS1_FIELDS),
    "autorally_msgs/msg/ChassisCommand": _CHASSIS_COMMAND.format(**_ROS2_FIELDS),
    "autorally_msgs/msg/chassisState": _CHASSIS_STATE.format(**_ROS1_FIELDS),
    "autorally_msgs/msg/ChassisState": _CHASSIS_STATE.format(**_ROS2_FIELDS),
    "autorally_msgs/msg/wheelSpeeds": _WHEEL_SPEEDS.format(**_ROS1_FIELDS),
    "autorally_msgs/msg/WheelSpeeds": _WHEEL_SPEEDS.format(**_ROS2_FIELDS),
    "autoware_vehicle_msgs/msg/VelocityReport": _VELOCITY,
    "autoware_auto_vehicle_msgs/msg/VelocityReport": _VELOCITY,
    "ackermann_msgs/msg/AckermannDrive": """\
float32 steering_angle
float32 steering_angle_velocity
float32 speed
float32 acceleration
float32 jerk
""",
    "ackermann_msgs/msg/AckermannDriveStamped": """\
std_msgs/Header header
AckermannDrive drive
""",
    "vesc_msgs/msg/VescState": """\
int32 FAULT_CODE_NONE=0
float64 temp_fet
float64 temp_motor
float64 current_motor
float64 current_input
float64 avg_id
float64 avg_iq
float64 duty_cycle
float64 speed
float64 voltage_input
float64 charge_drawn
float64 charge_regen
float64 energy_drawn
float64 energy_regen
int32 displacement
int32 distance_traveled
int32 fault_code
float64 pid_pos_now
int32 controller_id
float64 ntc_temp_mos1
float64 ntc_temp_mos2
float64 ntc_temp_mos3
float64 avg_vd
float64 avg_vq
""",
    "vesc_msgs/msg/VescStateStamped": """\
std_msgs/Header header
VescState state
""",
    "autoware_control_msgs/msg/Lateral": """\
builtin_interfaces/Time stamp
builtin_interfaces/Time control_time
float32 steering_tire_angle
float32 steering_tire_rotation_rate
bool is_defined_steering_tire_rotation_rate
""",
    "autoware_control_msgs/msg/Longitudinal": """\
builtin_interfaces/Time stamp
builtin_interfaces/Time control_time
float32 velocity
float32 acceleration
float32 jerk
bool is_defined_acceleration
bool is_defined_jerk
""",
    "autoware_control_msgs/msg/Control": """\
builtin_interfaces/Time stamp
builtin_interfaces/Time control_time
Lateral lateral
Longitudinal longitudinal
""",
    "autoware_auto_control_msgs/msg/AckermannLateralCommand": """\
builtin_interfaces/Time stamp
float32 steering_tire_angle
float32 steering_tire_rotation_rate
""",
    "autoware_auto_control_msgs/msg/LongitudinalCommand": """\
builtin_interfaces/Time stamp
float32 speed
float32 acceleration
float32 jerk
""",
    "autoware_auto_control_msgs/msg/AckermannControlCommand": """\
builtin_interfaces/Time stamp
AckermannLateralCommand lateral
LongitudinalCommand longitudinal
""",
}

_ZEROS = {"string": "", "bool": False, "float32": 0.0, "float64": 0.0}
# Lists of these are arrays
_NUMBERS = (
    "float64",
    "float32",
    "int8",
    "uint8",
    "int16",
    "uint16",
    "int32",
    "uint32",
    "int64",
    "uint64",
)


def library(module: str) -> Any:
    """Return a module of ``rosbags``. Raises errors.DeviceFault if it is not installed."""
    try:
        return import_module(f"rosbags.{module}")
    except ImportError as error:
        raise DeviceFault(
            "this Python cannot read or write bags of ROS",
            expected="the library rosbags",
            got=str(error),
            remedy="pip install 'tandem-cars[bags]'",
        ) from None


@lru_cache(maxsize=1)
def typestore() -> Any:
    """Return all types of Humble, and those above.

    Raises errors.DeviceFault without the library.
    """
    types = library("typesys")
    store = types.get_typestore(types.Stores.ROS2_HUMBLE)
    for name, text in _DEFINITIONS.items():
        store.register(types.get_types_from_msg(text, name))
    return store


def empty(name: str) -> Any:
    """Return a message of this type with all numbers 0 and all lists empty, as a node makes one.

    Raises errors.DeviceFault without the library.
    """
    store = typestore()
    fields = store.get_msgdef(name).fields
    return store.types[name](**{field: _nothing(*kind) for field, kind in fields})


def _nothing(node: Any, of: Any) -> Any:
    """Return the initial value of a field.

    Both arguments are how ``rosbags`` describes it: the kind of field, and for NAME the message's
    type, for BASE (type, limit), for ARRAY and SEQUENCE (element's kind and type, count).
    """
    if node.name == "NAME":
        return empty(of)
    if node.name == "BASE":
        return _ZEROS.get(of[0], 0)
    element, of_element = of[0]
    count = of[1] if node.name == "ARRAY" else 0
    if element.name == "BASE" and of_element[0] in _NUMBERS:
        return np.zeros(count, of_element[0])
    return [_nothing(element, of_element) for _ in range(count)]
