"""Publishes numbered commands, and asks a bare echo beside them: COMMANDS SEED, under rclpy.

A command's steering is its number in units of 10 microradians; its speed is 0. Prints JSON: when
each was published, on the machine's monotonic clock in ns, and how long the echo took, in ms.
"""

import json
import random
import sys
import time

import rclpy
from ackermann_msgs.msg import AckermannDriveStamped
from rclpy.qos import QoSProfile

STEER_RAD = 1e-5
EVERY_S, SPREAD_S = 0.015, 0.010  # between two, at random phases of any beat of 10 ms
ECHO_WITHIN_S = 0.05
WARM_UP = 50  # those first ones are not counted

count, seed = map(int, sys.argv[1:])
rng = random.Random(seed)
rclpy.init()
node = rclpy.create_node("caller")
drive = node.create_publisher(AckermannDriveStamped, "drive", 10)
asked = node.create_publisher(AckermannDriveStamped, "echo/asked", 10)
answered, sent_ns, echo_ms = {0}, {}, []


def hear(message):
    answered.add(int(message.drive.jerk))


node.create_subscription(AckermannDriveStamped, "echo/answered", hear, QoSProfile(depth=10))


def numbered(number):
    message = AckermannDriveStamped()
    message.header.stamp = node.get_clock().now().to_msg()
    message.drive.steering_angle, message.drive.jerk = number * STEER_RAD, float(number)
    return message


def ask(number):
    """There and back; an echo that does not come is left out, and missed in the count."""
    began_s = time.perf_counter()
    asked.publish(numbered(number))
    while number not in answered and time.perf_counter() - began_s < ECHO_WITHIN_S:
        rclpy.spin_once(node, timeout_sec=ECHO_WITHIN_S)
    if number in answered and number > WARM_UP:
        echo_ms.append(1e3 * (time.perf_counter() - began_s))


while not (drive.get_subscription_count() and asked.get_subscription_count()):
    time.sleep(0.05)
time.sleep(1.0)  # the other side has found this one, too
for number in range(1, WARM_UP + count + 1):
    due_s = time.perf_counter() + EVERY_S + rng.random() * SPREAD_S
    ask(number)
    time.sleep(max(due_s - time.perf_counter(), 0.0))
    message = numbered(number)
    at_ns = time.monotonic_ns()
    drive.publish(message)
    if number > WARM_UP:
        sent_ns[number] = at_ns
print(json.dumps({"sent_ns": sent_ns, "echo_ms": echo_ms}), flush=True)
