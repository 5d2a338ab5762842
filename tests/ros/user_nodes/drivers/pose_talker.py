"""Publishes a car's pose as others do, and prints what the pose sources make of it, as JSON.

An Odometry with a covariance on /pf/pose/odom, a PoseStamped of vrpn_mocap, and the transforms
map > odom (late, 10 Hz) > base_link (50 Hz) > laser (fixed), for two seconds; then silence.
"""

import json
import time
from math import cos, sin
from types import SimpleNamespace

import rclpy
from geometry_msgs.msg import PoseStamped, TransformStamped
from nav_msgs.msg import Odometry
from rclpy.qos import DurabilityPolicy, QoSProfile
from tf2_msgs.msg import TFMessage

from host_bridge.ros2.messages.pose_source import make_mocap, make_topic, make_transform

LATE_S = 0.1


def now_us():
    return time.monotonic_ns() // 1000


CONTEXT = SimpleNamespace(now_us=now_us)
sources = {
    "ros:/pf/pose/odom": make_topic("/pf/pose/odom", CONTEXT),
    "mocap:car1": make_mocap("car1", CONTEXT),
    "tf:map>laser": make_transform("map>laser", CONTEXT),
}
rclpy.init()
node = rclpy.create_node("pose_talker")
odometry = node.create_publisher(Odometry, "/pf/pose/odom", 10)
mocap = node.create_publisher(PoseStamped, "/vrpn_mocap/car1/pose", 10)
moving = node.create_publisher(TFMessage, "/tf", 10)
latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
fixed = node.create_publisher(TFMessage, "/tf_static", latched)


def stamp(age_s):
    ns = time.time_ns() - round(age_s * 1e9)
    return SimpleNamespace(sec=ns // 10**9, nanosec=ns % 10**9)


def put(header, frame, age_s=0.0):
    made = stamp(age_s)
    header.frame_id, header.stamp.sec, header.stamp.nanosec = frame, made.sec, made.nanosec


def transform(parent, child, x_m, yaw_rad, age_s=0.0):
    message = TransformStamped()
    put(message.header, parent, age_s)
    message.child_frame_id = child
    message.transform.translation.x = x_m
    message.transform.rotation.z, message.transform.rotation.w = sin(yaw_rad / 2), cos(yaw_rad / 2)
    return message


heard = {text: [] for text in sources}
begun_s = time.monotonic()
fixed.publish(TFMessage(transforms=[transform("base_link", "laser", 0.3, 0.0)]))
beat = 0
while time.monotonic() - begun_s < 4.0:
    if time.monotonic() - begun_s < 3.0:
        message = Odometry()
        put(message.header, "map", LATE_S)
        message.pose.pose.position.x, message.pose.pose.orientation.w = 1.5, 1.0
        message.pose.covariance[0] = message.pose.covariance[7] = 0.02
        odometry.publish(message)
        body = PoseStamped()
        put(body.header, "world")
        body.pose.position.y, body.pose.orientation.w = 2.5, 1.0
        mocap.publish(body)
        links = [transform("odom", "base_link", 1.0, 0.0)]
        if beat % 5 == 0:
            links.append(transform("map", "odom", 2.0, 1.5707963, LATE_S))
        moving.publish(TFMessage(transforms=links))
    for text, source in sources.items():
        for report in source.take(now_us(), None):
            if isinstance(report, str):
                heard[text].append(report)
            else:
                age_s = (now_us() - report.taken_us) * 1e-6
                row = [*report.pose, report.std_m, report.frame, report.is_centre, age_s]
                heard[text].append(row)
    beat += 1
    time.sleep(0.02)
for source in sources.values():
    source.close()
print(json.dumps(heard))
rclpy.shutdown()
