"""A publisher of AckermannDriveStamped: TOPIC SPEED STEERING HZ [latched|old|future|unstamped]."""

import sys
import time

import rclpy
from ackermann_msgs.msg import AckermannDriveStamped
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy

topic, speed, steering, hz, *how = sys.argv[1:]
rclpy.init()
node = rclpy.create_node("talker" + topic.replace("/", "_"))
qos = QoSProfile(depth=10)
if "latched" in how:
    qos = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
if "best_effort" in how:
    qos = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)
publisher = node.create_publisher(AckermannDriveStamped, topic, qos)
shift_s = {"old": -2, "future": 2}.get(how[0] if how else "", 0)
print("talking", flush=True)
sent = 0
next_s = time.monotonic()
while True:
    message = AckermannDriveStamped()
    if "unstamped" not in how:
        message.header.stamp = node.get_clock().now().to_msg()
        message.header.stamp.sec += shift_s
    message.drive.speed, message.drive.steering_angle = float(speed), float(steering)
    publisher.publish(message)
    sent += 1
    if "once" in how and sent == 1:
        time.sleep(1000)
    next_s += 1 / float(hz)
    time.sleep(max(0.0, next_s - time.monotonic()))
