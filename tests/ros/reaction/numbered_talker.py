"""A publisher of numbered commands: TOPIC SPEED HZ QOS TALKER FILE, from a line on stdin on.

QOS is reliable or best_effort, TALKER a number of its own. FILE has how many were
published, at each moment.
"""

import os
import sys
import time

import rclpy
from ackermann_msgs.msg import AckermannDriveStamped
from rclpy.qos import QoSProfile, ReliabilityPolicy

topic, speed, hz, qos, talker, path = sys.argv[1:]
rclpy.init()
node = rclpy.create_node("numbered_" + topic)
kind = ReliabilityPolicy.BEST_EFFORT if qos == "best_effort" else ReliabilityPolicy.RELIABLE
publisher = node.create_publisher(
    AckermannDriveStamped, topic, QoSProfile(depth=10, reliability=kind)
)
count = os.open(path, os.O_WRONLY | os.O_CREAT)
print("ready", flush=True)
sys.stdin.readline()
next_s = time.monotonic()
for number in range(1_000_000):
    message = AckermannDriveStamped()
    message.header.stamp = node.get_clock().now().to_msg()
    message.drive.speed, message.drive.jerk = float(speed), float(number)
    message.drive.acceleration = float(talker)
    publisher.publish(message)
    os.pwrite(count, b"%9d" % (number + 1), 0)
    next_s = max(next_s + 1 / float(hz), time.monotonic() - 0.05)
    time.sleep(max(next_s - time.monotonic(), 0))
