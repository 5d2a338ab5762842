"""The topics of f1tenth_system, the F1TENTH / RoboRacer car."""

from __future__ import annotations

from host_bridge.ros2.vocabularies.topics import (
    DIRECT,
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

ACKERMANN = "ackermann_msgs/msg/AckermannDriveStamped"
_FLOAT = "std_msgs/msg/Float64"
_VESC = "vesc_msgs/msg/Vesc"
_MAP = "map"

F1TENTH = Vocabulary(
    name="f1tenth",
    title="f1tenth_system: the F1TENTH / RoboRacer car",
    subscriptions=(
        Subscription("drive", ACKERMANN, Content.ACKERMANN, "navigation"),
        Subscription("teleop", ACKERMANN, Content.ACKERMANN, "joystick"),
        Subscription("commands/motor/speed", _FLOAT, Content.MOTOR_SPEED, DIRECT),
        Subscription("commands/servo/position", _FLOAT, Content.SERVO, DIRECT),
        Subscription("commands/motor/brake", _FLOAT, Content.MOTOR_BRAKE, DIRECT),
        Subscription("commands/motor/duty_cycle", _FLOAT, Content.REFUSED, DIRECT),
        Subscription("commands/motor/current", _FLOAT, Content.REFUSED, DIRECT),
        Subscription("commands/motor/position", _FLOAT, Content.REFUSED, DIRECT),
    ),
    publications=(
        Publication("ackermann_cmd", ACKERMANN, Content.DRIVEN, STATE_HZ),
        Publication("odom", ODOMETRY_TYPE, Content.ODOMETRY, STATE_HZ, "odom"),
        Publication("/tf", TF_TYPE, Content.TRANSFORM, STATE_HZ, "odom"),
        Publication("scan", SCAN_TYPE, Content.SCAN, SCAN_HZ, "laser"),
        Publication("sensors/core", f"{_VESC}StateStamped", Content.VESC_STATE, STATE_HZ, "", True),
        Publication("sensors/imu", f"{_VESC}ImuStamped", Content.VESC_IMU, STATE_HZ, "", True),
        Publication("sensors/imu/raw", "sensor_msgs/msg/Imu", Content.IMU, STATE_HZ),
        Publication("sensors/servo_position_command", _FLOAT, Content.SERVO_ECHO, STATE_HZ),
        # In place of their particle filter, which on a real car is the lab's own
        Publication(
            "pf/pose/odom", ODOMETRY_TYPE, Content.TRUTH, STATE_HZ, _MAP, is_of_virtual=True
        ),
    ),
    mux=(
        MuxRow("navigation", "drive", 10, 0.2),
        MuxRow("joystick", "teleop", 100, 0.2),
        MuxRow(DIRECT, "commands/motor/speed", 0, 0.2),
    ),
    odom_frame="odom",
    base_frame="base_link",
    scan_frame="laser",
)
