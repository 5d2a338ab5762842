"""A publisher of AckermannDriveStamped: TOPIC SPEED STEERING HZ and some of latched, old, future,
unstamped, sim_time; once: a single one, found: as soon as somebody listens."""

import sys
import time

import rclpy
from ackermann_msgs.msg import AckermannDriveStamped
from rclpy.parameter import Parameter
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy

topic, speed, steering, hz, *how = sys.argv[1:]
rclpy.init()
uses_sim_time = Parameter("use_sim_time", value="sim_time" in how)
node = rclpy.create_node("talker" + topic.replace("/", "_"), parameter_overrides=[uses_sim_time])
qos = QoSProfile(depth=10)
if "latched" in how:
    qos = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
if "best_effort" in how:
    qos = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)
publisher = node.create_publisher(AckermannDriveStamped, topic, qos)
shift_s = {"old": -2, "future": 2}.get(how[0] if how else "", 0)
while "found" in how and not publisher.get_subscription_count():
    time.sleep(0.05)
if "found" in how:
    time.sleep(0.5)  # until the other side has found this one, too
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
    while (left_s := next_s - time.monotonic()) > 0:
        rclpy.spin_once(node, timeout_sec=left_s) if "sim_time" in how else time.sleep(left_s)
