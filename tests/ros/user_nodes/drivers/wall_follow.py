"""Follow the left wall: SPEED LAPS. Knows /scan, /odom and /drive, as the second lab's node does.

Two rays, to the left and ahead of it, give the wall's bearing and distance; a PD controller steers
by the distance a little ahead. A lap is a whole turn of the heading.
"""

import math
import sys
import time

import rclpy
from ackermann_msgs.msg import AckermannDriveStamped
from nav_msgs.msg import Odometry
from sensor_msgs.msg import LaserScan

AHEAD_RAD = math.radians(50.0)  # between the two rays
LOOK_AHEAD_M = 0.9
WANTED_M = 1.0
P, D = 0.9, 0.12
STEER_MAX_RAD = 0.36
FAR_M = 5.0

top_mps, laps = float(sys.argv[1]), int(sys.argv[2])


class WallFollow:
    def __init__(self):
        self.node = rclpy.create_node("wall_follow")
        self.drive = self.node.create_publisher(AckermannDriveStamped, "drive", 10)
        self.node.create_subscription(LaserScan, "scan", self.scan, 10)
        self.node.create_subscription(Odometry, "odom", self.odom, 10)
        self.error_m = None
        self.stamp_s = 0.0
        self.turned_rad = 0.0
        self.yaw_rad = None
        self.lap = 0

    @staticmethod
    def range_at(scan, bearing_rad):
        index = round((bearing_rad - scan.angle_min) / scan.angle_increment)
        found = scan.ranges[min(max(index, 0), len(scan.ranges) - 1)]
        return min(found, FAR_M) if found > 0 else FAR_M

    def scan(self, scan):
        aside = self.range_at(scan, math.pi / 2)
        ahead = self.range_at(scan, math.pi / 2 - AHEAD_RAD)
        bearing = math.atan2(ahead * math.cos(AHEAD_RAD) - aside, ahead * math.sin(AHEAD_RAD))
        distance_m = aside * math.cos(bearing) + LOOK_AHEAD_M * math.sin(bearing)
        error_m = distance_m - WANTED_M
        stamp_s = scan.header.stamp.sec + scan.header.stamp.nanosec * 1e-9
        rate = 0.0
        if self.error_m is not None and stamp_s > self.stamp_s:
            rate = (error_m - self.error_m) / (stamp_s - self.stamp_s)
        self.error_m, self.stamp_s = error_m, stamp_s
        steer_rad = max(-STEER_MAX_RAD, min(STEER_MAX_RAD, P * error_m + D * rate))
        message = AckermannDriveStamped()
        message.header.stamp = self.node.get_clock().now().to_msg()
        message.drive.steering_angle = steer_rad
        message.drive.speed = top_mps * (1.0 - 0.65 * abs(steer_rad) / STEER_MAX_RAD)
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
follow = WallFollow()
print("talking", flush=True)
while follow.lap < laps:
    rclpy.spin_once(follow.node, timeout_sec=1.0)
time.sleep(0.1)
