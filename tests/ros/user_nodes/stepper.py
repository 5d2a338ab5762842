"""Drives simple_planning_simulator in lockstep by /clock: TRACE.csv STEP_S ROWS [silent=N] [bare].

For each row of the trace it publishes the command and its gear, asks a service, which is answered
after they were taken, moves the clock on by a step, and prints what the simulator says of that
moment, as JSON. Then it goes on in silence for N steps. ``bare``: without the service.
"""

import csv
import json
import math
import sys
import time

import rclpy
from autoware_control_msgs.msg import Control
from autoware_vehicle_msgs.msg import GearCommand, GearReport, SteeringReport
from autoware_vehicle_msgs.srv import ControlModeCommand
from geometry_msgs.msg import AccelWithCovarianceStamped, PoseWithCovarianceStamped
from nav_msgs.msg import Odometry
from rosgraph_msgs.msg import Clock

trace, step_s, count = sys.argv[1], float(sys.argv[2]), int(sys.argv[3])
words = dict(word.partition("=")[::2] for word in sys.argv[4:])
silent, is_barred = int(words.get("silent", 0)), "bare" not in words
rclpy.init()
node = rclpy.create_node("stepper")
clock = node.create_publisher(Clock, "/clock", 10)
pose = node.create_publisher(PoseWithCovarianceStamped, "/initialpose3d", 1)
control = node.create_publisher(Control, "/control/command/control_cmd", 1)
gear = node.create_publisher(GearCommand, "/control/command/gear_cmd", 1)
mode = node.create_client(ControlModeCommand, "/control/control_mode_request")
heard = {}
for topic, kind in {
    "/localization/kinematic_state": Odometry,
    "/localization/acceleration": AccelWithCovarianceStamped,
    "/vehicle/status/steering_status": SteeringReport,
    "/vehicle/status/gear_status": GearReport,
}.items():
    node.create_subscription(
        kind, topic, lambda message, topic=topic: heard.__setitem__(topic, message), 10
    )
print("talking", flush=True)
now_ns, step_ns = 1_000_000_000, round(step_s * 1e9)


def tick(ns):
    message = Clock()
    message.clock.sec, message.clock.nanosec = divmod(ns, 1_000_000_000)
    clock.publish(message)


def is_at(ns):
    """Whether all that is heard is of that moment."""
    if len(heard) < 4:
        return False
    stamps = [getattr(it, "header", it).stamp for it in heard.values()]
    return {stamp.sec * 1_000_000_000 + stamp.nanosec for stamp in stamps} == {ns}


def until(is_so, again=lambda: None):
    deadline_s = time.monotonic() + 10
    while not is_so():
        if time.monotonic() > deadline_s:
            raise SystemExit("the simulator does not answer")
        again()
        rclpy.spin_once(node, timeout_sec=0.05)


def taken():
    """Wait until whatever was published before is taken."""
    future = mode.call_async(ControlModeCommand.Request(mode=1))
    rclpy.spin_until_future_complete(node, future, timeout_sec=10)
    assert future.result().success


def step(now_ns):
    """Move on to that moment, and tell what the simulator says then."""
    tick(now_ns)
    until(lambda: is_at(now_ns))
    state = heard["/localization/kinematic_state"]
    at, turn = state.pose.pose.position, state.pose.pose.orientation
    told = {
        "x_m": at.x,
        "y_m": at.y,
        "yaw_rad": 2 * math.atan2(turn.z, turn.w),
        "vx_mps": state.twist.twist.linear.x,
        "wz_radps": state.twist.twist.angular.z,
        "ax_mps2": heard["/localization/acceleration"].accel.accel.linear.x,
        "steer_rad": heard["/vehicle/status/steering_status"].steering_tire_angle,
        "gear": heard["/vehicle/status/gear_status"].report,
    }
    print(json.dumps(told), flush=True)


until(lambda: not any(it.get_subscription_count() == 0 for it in (clock, pose, control, gear)))
mode.wait_for_service(10)
time.sleep(0.5)  # the other side finds this one a moment later
tick(now_ns)
initial = PoseWithCovarianceStamped()
initial.header.frame_id, initial.pose.pose.orientation.w = "map", 1.0
# One step beforehand, from which the first is counted: the car does not move in it
now_ns += step_ns
pose.publish(initial)
taken()
until(lambda: is_at(now_ns), lambda: (pose.publish(initial), taken(), tick(now_ns)))
with open(trace, newline="") as file:
    rows = list(csv.DictReader(file))[:count]
for row in rows:
    message = Control()
    message.longitudinal.velocity = float(row["vel_des_mps"])
    message.longitudinal.acceleration = float(row["acc_des_mps2"])
    message.lateral.steering_tire_angle = float(row["steer_des_rad"])
    gear.publish(GearCommand(command=int(float(row["gear"]))))
    control.publish(message)
    if is_barred:
        taken()
    now_ns += step_ns
    step(now_ns)
for _ in range(silent):
    now_ns += step_ns
    step(now_ns)
