"""Bags as ROS 1 and ROS 2 write them, of what a test says: by the library's writers."""

from __future__ import annotations

from math import cos, sin
from pathlib import Path

from rosbags.rosbag1 import Writer as Writer1
from rosbags.rosbag2 import StoragePlugin
from rosbags.rosbag2 import Writer as Writer2
from rosbags.typesys import Stores, get_types_from_msg, get_typestore

from host_bridge.logs.bags.ros_types import empty, typestore

START_NS = 1_700_000_000_000_000_000
ACKERMANN = "ackermann_msgs/msg/AckermannDriveStamped"
ODOMETRY = "nav_msgs/msg/Odometry"
KINDS = (".bag", ".db3", ".mcap", "folder")


def drive(speed_mps, steer_rad):
    message = empty(ACKERMANN)
    message.drive.speed, message.drive.steering_angle = speed_mps, steer_rad
    return message


def odom(x_m, y_m, yaw_rad, stamp_ns):
    message = empty(ODOMETRY)
    message.header.stamp.sec, message.header.stamp.nanosec = divmod(stamp_ns, 10**9)
    message.pose.pose.position.x, message.pose.pose.position.y = x_m, y_m
    turn = message.pose.pose.orientation
    turn.z, turn.w = sin(yaw_rad / 2), cos(yaw_rad / 2)
    return message


def write(folder: Path, kind: str, rows) -> Path:
    """Rows of time in ns, topic, type and message; returns what a user would name."""
    if kind == ".bag":
        return write_ros1(folder / "run.bag", rows)
    plugin = StoragePlugin.SQLITE3 if kind == ".db3" else StoragePlugin.MCAP
    bag = folder / "run"
    with Writer2(bag, version=9, storage_plugin=plugin) as writer:
        known = {}
        for time_ns, topic, name, message in rows:
            if topic not in known:
                known[topic] = writer.add_connection(topic, name, typestore=typestore())
            writer.write(known[topic], time_ns, typestore().serialize_cdr(message, name))
    return next(bag.glob(f"*{kind}")) if kind != "folder" else bag


def write_ros1(path: Path, rows) -> Path:
    store = get_typestore(Stores.ROS1_NOETIC)
    for name in ("ackermann_msgs/msg/AckermannDrive", ACKERMANN):
        store.register(get_types_from_msg(_ros1_text(name), name))
    with Writer1(path) as writer:
        known = {}
        for time_ns, topic, name, message in rows:
            if topic not in known:
                if name not in store.types:
                    store.register(get_types_from_msg(_ros1_text(name), name))
                known[topic] = writer.add_connection(topic, name, typestore=store)
            if hasattr(message, "header"):
                message.header = store.types["std_msgs/msg/Header"](
                    seq=0, stamp=message.header.stamp, frame_id=""
                )
            writer.write(known[topic], time_ns, store.serialize_ros1(message, name))
    return path


def _ros1_text(name: str) -> str:
    text, _ = typestore().generate_msgdef(name, ros_version=1)
    return text.split("=" * 80)[0]
