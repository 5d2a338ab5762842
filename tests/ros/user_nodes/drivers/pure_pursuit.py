"""Pure pursuit: TOPIC WAYPOINTS.csv SPEED LAPS. Knows an odometry topic in a map, and /drive.

With the TOPIC /tf it looks up map to base_link in the tree of transforms, as by tf2. The pose is
that of the rear axle. A lap ends where the path begins.
"""

import math
import sys
import time

import numpy as np
import rclpy
from ackermann_msgs.msg import AckermannDriveStamped
from nav_msgs.msg import Odometry
from tf2_msgs.msg import TFMessage

WHEELBASE_M = 0.324
LOOK_AHEAD_M = 0.8
STEER_MAX_RAD = 0.36

topic, path, speed_mps, laps = sys.argv[1], sys.argv[2], float(sys.argv[3]), int(sys.argv[4])


class PurePursuit:
    def __init__(self):
        self.node = rclpy.create_node("pure_pursuit")
        self.drive = self.node.create_publisher(AckermannDriveStamped, "drive", 10)
        if topic == "/tf":
            self.node.create_subscription(TFMessage, topic, self.transforms, 100)
        else:
            self.node.create_subscription(Odometry, topic, self.odom, 10)
        self.parents = {}  # frame -> its parent, and where it is in it: x, y, yaw
        self.points = np.loadtxt(path, delimiter=",")
        self.at = 0
        self.lap = 0
        self.farthest_m = 0.0

    def transforms(self, message):
        for it in message.transforms:
            move, turn = it.transform.translation, it.transform.rotation
            place = move.x, move.y, 2.0 * math.atan2(turn.z, turn.w)
            self.parents[it.child_frame_id] = it.header.frame_id, place
        frame, x, y, yaw = "base_link", 0.0, 0.0, 0.0
        while frame in self.parents:
            frame, (px, py, turned) = self.parents[frame]
            x, y = (
                px + math.cos(turned) * x - math.sin(turned) * y,
                py + math.sin(turned) * x + math.cos(turned) * y,
            )
            yaw += turned
        if frame == "map":
            self.pursue(np.array([x, y]), yaw)

    def odom(self, odom):
        pose = odom.pose.pose
        yaw_rad = 2.0 * math.atan2(pose.orientation.z, pose.orientation.w)
        self.pursue(np.array([pose.position.x, pose.position.y]), yaw_rad)

    def pursue(self, here, yaw_rad):
        count = len(self.points)
        window = (self.at + np.arange(count // 4)) % count  # ahead of where it was
        apart = np.hypot(*(self.points[window] - here).T)
        nearest = int(window[apart.argmin()])
        self.farthest_m = max(self.farthest_m, float(apart.min()))
        if nearest < self.at:
            self.lap += 1
            print(f"lap {self.lap} {self.farthest_m:.3f}", flush=True)
        self.at = nearest
        goal = next(
            self.points[(nearest + i) % count]
            for i in range(count)
            if np.hypot(*(self.points[(nearest + i) % count] - here)) > LOOK_AHEAD_M
        )
        ahead = goal - here
        aside_m = -math.sin(yaw_rad) * ahead[0] + math.cos(yaw_rad) * ahead[1]
        curvature = 2.0 * aside_m / float(ahead @ ahead)
        message = AckermannDriveStamped()
        message.header.stamp = self.node.get_clock().now().to_msg()
        steer_rad = math.atan(WHEELBASE_M * curvature)
        message.drive.steering_angle = max(-STEER_MAX_RAD, min(STEER_MAX_RAD, steer_rad))
        message.drive.speed = speed_mps
        self.drive.publish(message)


rclpy.init()
pursuit = PurePursuit()
print("talking", flush=True)
while pursuit.lap < laps:
    rclpy.spin_once(pursuit.node, timeout_sec=1.0)
time.sleep(0.1)
