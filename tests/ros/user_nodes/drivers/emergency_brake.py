"""Brake in an emergency: TOPIC SECONDS. Speaks only while it brakes, as a first lab's node does.

It brakes while the time to a collision, a ray's range over the speed along it, is below SECONDS.
"""

import math
import sys

import rclpy
from ackermann_msgs.msg import AckermannDriveStamped
from nav_msgs.msg import Odometry
from sensor_msgs.msg import LaserScan

topic, limit_s = sys.argv[1], float(sys.argv[2])
HALF_WIDTH_M = 0.2  # rays that pass the car by are no collision


class EmergencyBrake:
    def __init__(self):
        self.node = rclpy.create_node("emergency_brake")
        self.brake = self.node.create_publisher(AckermannDriveStamped, topic, 10)
        self.node.create_subscription(LaserScan, "scan", self.scan, 10)
        self.node.create_subscription(Odometry, "odom", self.odom, 10)
        self.speed_mps = 0.0
        self.is_braking = False

    def odom(self, odom):
        self.speed_mps = odom.twist.twist.linear.x

    def scan(self, scan):
        least_s = math.inf
        for i, range_m in enumerate(scan.ranges):
            bearing = scan.angle_min + i * scan.angle_increment
            if abs(bearing) < math.pi / 2 and abs(range_m * math.sin(bearing)) < HALF_WIDTH_M:
                closing_mps = self.speed_mps * math.cos(bearing)
                if closing_mps > 0.05 and range_m > 0:
                    least_s = min(least_s, range_m / closing_mps)
        was, self.is_braking = self.is_braking, least_s < limit_s
        if self.is_braking:
            message = AckermannDriveStamped()
            message.header.stamp = self.node.get_clock().now().to_msg()
            self.brake.publish(message)
            if not was:
                print(f"brakes {least_s:.2f}", flush=True)


rclpy.init()
node = EmergencyBrake()
print("talking", flush=True)
rclpy.spin(node.node)
