"""What arrives at a car and what the car does, a line of JSON each.

Commands are subscribed to twice: as f1tenth_system's mux does (reliable, depth 10), and by best
effort; their ``jerk`` is their number, ``acceleration`` that of who published them. They are kept
until "dump" comes on standard input; "arm" there arms the car. Times are of the
machine's monotonic clock, in s.
"""

import json
import os
import select
import sys
import time

import rclpy
from ackermann_msgs.msg import AckermannDriveStamped
from nav_msgs.msg import Odometry
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from std_msgs.msg import Bool, String
from std_srvs.srv import SetBool

rclpy.init()
node = rclpy.create_node("reaction_recorder")
LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
BEST_EFFORT = QoSProfile(depth=5000, reliability=ReliabilityPolicy.BEST_EFFORT)
met = set()
kept = {"theirs": [], "best_effort": []}


def tell(kind, **fields):
    print(json.dumps({"kind": kind, "t": time.monotonic(), **fields}), flush=True)


def keep(where, topic):
    rows = kept[where]

    def hear(it):
        talker = round(it.drive.acceleration)
        if where == "best_effort" and talker not in met:
            met.add(talker)
            tell("first", talker=talker)
        rows.append((time.monotonic(), topic, it.drive.speed, round(it.drive.jerk), talker))

    return hear


def odom(it):
    at = it.pose.pose.position
    tell("odom", x=at.x, y=at.y, speed=it.twist.twist.linear.x)


def subscribe(kind, topic, qos, hear):
    node.create_subscription(kind, topic, hear, qos)


for topic in ("drive", "teleop"):
    subscribe(AckermannDriveStamped, topic, 10, keep("theirs", topic))
    subscribe(AckermannDriveStamped, topic, BEST_EFFORT, keep("best_effort", topic))
subscribe(Odometry, "odom", 100, odom)
subscribe(Bool, "/tandem/is_stopped", LATCHED, lambda it: tell("stopped", is_so=it.data))
subscribe(String, "/tandem/why_stopped", LATCHED, lambda it: tell("why", words=it.data))
arm = node.create_client(SetBool, "/tandem/arm")


def listen():
    """In the thread of all else: what is asked for on standard input; its end is ours."""
    if not select.select([sys.stdin], [], [], 0)[0]:
        return
    word = os.read(sys.stdin.fileno(), 100).decode().strip()
    if word == "dump":
        tell("kept", **kept)
        for rows in kept.values():
            rows.clear()
    elif word == "arm":
        answer = arm.call_async(SetBool.Request(data=True))
        answer.add_done_callback(lambda it: tell("armed", is_so=it.result().success))
    else:
        sys.exit()


arm.wait_for_service(60)
tell("ready")
node.create_timer(0.02, listen)
rclpy.spin(node)
