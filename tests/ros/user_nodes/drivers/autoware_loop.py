"""Follow a path as Autoware's control does: WAYPOINTS.csv SPEED LAPS [auto].

It has Autoware's names, types and QoS: localisation and reports with depth 1, a control command at
33 Hz, the gear latched; it asks for control, and again after a stop. "auto" speaks the messages of
before 2024. A lap ends where the path begins; at the end it says how much of each topic came.
"""

import json
import math
import sys
import time

import numpy as np
import rclpy
from geometry_msgs.msg import AccelWithCovarianceStamped, TwistWithCovarianceStamped
from nav_msgs.msg import Odometry
from rclpy.qos import DurabilityPolicy, QoSProfile
from sensor_msgs.msg import Imu, LaserScan
from tf2_msgs.msg import TFMessage

path, speed_mps, laps = sys.argv[1], float(sys.argv[2]), int(sys.argv[3])
is_old = "auto" in sys.argv[4:]
if is_old:
    from autoware_auto_control_msgs.msg import AckermannControlCommand as Control
    from autoware_auto_vehicle_msgs.msg import (
        ControlModeReport,
        GearCommand,
        SteeringReport,
        VelocityReport,
    )
    from autoware_auto_vehicle_msgs.srv import ControlModeCommand
else:
    from autoware_control_msgs.msg import Control
    from autoware_vehicle_msgs.msg import (
        ControlModeReport,
        GearCommand,
        SteeringReport,
        VelocityReport,
    )
    from autoware_vehicle_msgs.srv import ControlModeCommand

WHEELBASE_M, LOOK_AHEAD_M, STEER_MAX_RAD = 0.324, 0.8, 0.36
DRIVE, AUTONOMOUS = 2, 1
NEWEST = QoSProfile(depth=1)
LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)


class Loop:
    def __init__(self):
        self.node = node = rclpy.create_node("trajectory_follower")
        self.control = node.create_publisher(Control, "/control/command/control_cmd", LATCHED)
        self.gear = node.create_publisher(GearCommand, "/control/command/gear_cmd", LATCHED)
        self.heard = {}
        for topic, kind in {
            "/localization/kinematic_state": Odometry,
            "/localization/acceleration": AccelWithCovarianceStamped,
            "/sensing/imu/imu_data": Imu,
            "/sensing/lidar/scan": LaserScan,
            "/sensing/vehicle_velocity_converter/twist_with_covariance": TwistWithCovarianceStamped,
            "/tf": TFMessage,
            "/vehicle/status/velocity_status": VelocityReport,
            "/vehicle/status/steering_status": SteeringReport,
            "/vehicle/status/control_mode": ControlModeReport,
        }.items():
            node.create_subscription(kind, topic, self.hearer(topic), NEWEST)
        self.ask = node.create_client(ControlModeCommand, "/control/control_mode_request")
        self.asked_s = 0.0
        self.points = np.loadtxt(path, delimiter=",")
        self.at = self.lap = 0
        self.farthest_m = 0.0
        node.create_timer(0.03, self.tick)

    def hearer(self, topic):
        self.heard[topic] = [0, None]

        def hear(message):
            self.heard[topic][0] += 1
            self.heard[topic][1] = message

        return hear

    def tick(self):
        gear = GearCommand()
        gear.stamp, gear.command = self.node.get_clock().now().to_msg(), DRIVE
        self.gear.publish(gear)
        state = self.heard["/localization/kinematic_state"][1]
        mode = self.heard["/vehicle/status/control_mode"][1]
        if state is None or mode is None:
            return
        if mode.mode != AUTONOMOUS and time.monotonic() - self.asked_s > 1.0:
            self.asked_s = time.monotonic()
            self.ask.call_async(ControlModeCommand.Request(mode=AUTONOMOUS))
        self.follow(state.pose.pose)

    def follow(self, pose):
        here = np.array([pose.position.x, pose.position.y])
        yaw_rad = 2.0 * math.atan2(pose.orientation.z, pose.orientation.w)
        count = len(self.points)
        window = (self.at + np.arange(count // 4)) % count
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
        steer_rad = math.atan(WHEELBASE_M * 2.0 * aside_m / float(ahead @ ahead))
        command = Control()
        command.stamp = self.node.get_clock().now().to_msg()
        command.lateral.steering_tire_angle = max(-STEER_MAX_RAD, min(STEER_MAX_RAD, steer_rad))
        setattr(command.longitudinal, "speed" if is_old else "velocity", speed_mps)
        self.control.publish(command)


rclpy.init()
loop = Loop()
print("talking", flush=True)
begun_s = time.monotonic()
while loop.lap < laps:
    rclpy.spin_once(loop.node, timeout_sec=1.0)
lasted_s = time.monotonic() - begun_s
rates = {topic: round(count / lasted_s, 1) for topic, (count, _) in loop.heard.items()}
frames = [(it.header.frame_id, it.child_frame_id) for it in loop.heard["/tf"][1].transforms]
print(json.dumps({"hz": rates, "frames": frames}), flush=True)
time.sleep(0.1)
