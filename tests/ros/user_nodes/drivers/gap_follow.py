"""Follow the gap: SPEED LAPS [TOPIC]. Knows /scan, /odom and /drive, as a student's node does.

Ranges next to a jump are shortened by half a car's width (the disparity extender), and it steers
to where it can drive farthest. A lap is a whole turn of the heading.
"""

import math
import sys
import time

import numpy as np
import rclpy
from ackermann_msgs.msg import AckermannDriveStamped
from nav_msgs.msg import Odometry
from sensor_msgs.msg import LaserScan

HALF_WIDTH_M = 0.28
JUMP_M = 0.4
FAR_M = 4.0
STEER_MAX_RAD = 0.36

top_mps, laps = float(sys.argv[1]), int(sys.argv[2])
topic = sys.argv[3] if len(sys.argv) > 3 else "drive"


def extended(ranges, step_rad):
    """Ranges as a wide car has them."""
    made = ranges.copy()
    for i in np.flatnonzero(np.abs(np.diff(ranges)) > JUMP_M):
        is_left = ranges[i] < ranges[i + 1]  # what lies left of the nearer one is shortened
        near_m = min(ranges[i], ranges[i + 1])
        reach = math.ceil(math.atan2(HALF_WIDTH_M, max(near_m, 0.1)) / step_rad)
        side = slice(i + 1, i + 1 + reach) if is_left else slice(max(0, i + 1 - reach), i + 1)
        made[side] = np.minimum(made[side], near_m)
    return made


class GapFollow:
    def __init__(self):
        self.node = rclpy.create_node("gap_follow")
        self.drive = self.node.create_publisher(AckermannDriveStamped, topic, 10)
        self.node.create_subscription(LaserScan, "scan", self.scan, 10)
        self.node.create_subscription(Odometry, "odom", self.odom, 10)
        self.turned_rad = 0.0
        self.yaw_rad = None
        self.lap = 0

    def scan(self, scan):
        angles = scan.angle_min + np.arange(len(scan.ranges)) * scan.angle_increment
        ahead = np.abs(angles) < math.radians(80)
        ranges = np.asarray(scan.ranges, dtype=float)[ahead]
        ranges = np.clip(np.nan_to_num(ranges, nan=FAR_M, posinf=FAR_M), 0.0, FAR_M)
        free = extended(ranges, scan.angle_increment)
        best = np.flatnonzero(free > free.max() - 0.1)  # of all that is farthest, its middle
        gaps = np.split(best, np.flatnonzero(np.diff(best) > 1) + 1)
        gap = max(gaps, key=len)
        aim_rad = angles[ahead][gap[len(gap) // 2]]
        steer_rad = float(np.clip(aim_rad, -STEER_MAX_RAD, STEER_MAX_RAD))
        message = AckermannDriveStamped()
        message.header.stamp = self.node.get_clock().now().to_msg()
        message.drive.steering_angle = steer_rad
        message.drive.speed = top_mps * (1.0 - 0.5 * abs(steer_rad) / STEER_MAX_RAD)
        self.drive.publish(message)

    def odom(self, odom):
        q = odom.pose.pose.orientation
        yaw_rad = 2.0 * math.atan2(q.z, q.w)
        if self.yaw_rad is not None:
            self.turned_rad += math.remainder(yaw_rad - self.yaw_rad, math.tau)
        self.yaw_rad = yaw_rad
        if self.turned_rad > (self.lap + 1) * math.tau - 0.1:
            self.lap += 1
            print(f"lap {self.lap}", flush=True)


rclpy.init()
follow = GapFollow()
print("talking", flush=True)
while follow.lap < laps:
    rclpy.spin_once(follow.node, timeout_sec=1.0)
time.sleep(0.1)
