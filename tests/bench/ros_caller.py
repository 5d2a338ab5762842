"""Publishes numbered commands, and asks two bare echoes beside them: COMMANDS SEED, under rclpy.

A command's steering is its number in units of 10 microradians; its speed is 0. Prints JSON: when
each was published, on the machine's monotonic clock in ns, and how long each echo took, in ms.
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
ECHOES = ("at_once", "on_beat")

count, seed = map(int, sys.argv[1:])
rng = random.Random(seed)
rclpy.init()
node = rclpy.create_node("caller")
drive = node.create_publisher(AckermannDriveStamped, "drive", 10)
asked = {it: node.create_publisher(AckermannDriveStamped, f"{it}/asked", 10) for it in ECHOES}
answered = dict.fromkeys(ECHOES, 0)
took_ms = {it: [] for it in ECHOES}
sent_ns = {}


def hear(which, message):
    answered[which] = int(message.drive.jerk)


for which in ECHOES:
    node.create_subscription(
        AckermannDriveStamped,
        f"{which}/answered",
        lambda message, which=which: hear(which, message),
        QoSProfile(depth=10),
    )


def numbered(number):
    message = AckermannDriveStamped()
    message.header.stamp = node.get_clock().now().to_msg()
    message.drive.steering_angle, message.drive.jerk = number * STEER_RAD, float(number)
    return message


def ask(which, number):
    """There and back; an echo that does not come is left out, and missed in the count."""
    began_s = time.perf_counter()
    asked[which].publish(numbered(number))
    while answered[which] < number and time.perf_counter() - began_s < ECHO_WITHIN_S:
        rclpy.spin_once(node, timeout_sec=ECHO_WITHIN_S)
    if answered[which] == number and number > WARM_UP:
        took_ms[which].append(1e3 * (time.perf_counter() - began_s))


while not (
    drive.get_subscription_count() and all(it.get_subscription_count() for it in asked.values())
):
    time.sleep(0.05)
time.sleep(1.0)  # the other side has found this one, too
for number in range(1, WARM_UP + count + 1):
    due_s = time.perf_counter() + EVERY_S + rng.random() * SPREAD_S
    ask(ECHOES[number % 2], number)
    time.sleep(max(due_s - time.perf_counter(), 0.0))
    message = numbered(number)
    at_ns = time.monotonic_ns()
    drive.publish(message)
    if number > WARM_UP:
        sent_ns[number] = at_ns
print(json.dumps({"sent_ns": sent_ns, **took_ms}), flush=True)
