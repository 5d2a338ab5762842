"""A bare rclpy echo of NAME/asked to NAME/answered, at once or on its beat: NAME [BEAT_MS]."""

import sys
import time

import rclpy
from ackermann_msgs.msg import AckermannDriveStamped

name, *beat = sys.argv[1:]
rclpy.init()
node = rclpy.create_node(f"echo_{name}")
publisher = node.create_publisher(AckermannDriveStamped, f"{name}/answered", 10)
node.create_subscription(AckermannDriveStamped, f"{name}/asked", publisher.publish, 10)
if not beat:
    rclpy.spin(node)
next_s = time.monotonic()
while True:
    next_s = max(next_s + float(beat[0]) * 1e-3, time.monotonic())
    time.sleep(max(next_s - time.monotonic(), 0.0))
    rclpy.spin_once(node, timeout_sec=0)
