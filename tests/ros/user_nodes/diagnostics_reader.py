"""Hears /diagnostics until each car named has said something: NAME...; prints all names as JSON."""

import json
import sys
import time

import rclpy
from diagnostic_msgs.msg import DiagnosticArray

rclpy.init()
node = rclpy.create_node("diagnostics_reader")
names = set()
node.create_subscription(
    DiagnosticArray,
    "/diagnostics",
    lambda message: names.update(status.name for status in message.status),
    10,
)
print("talking", flush=True)
deadline_s = time.monotonic() + 60
while time.monotonic() < deadline_s:
    rclpy.spin_once(node, timeout_sec=0.1)
    if not [car for car in sys.argv[1:] if not any(it.startswith(car + "/") for it in names)]:
        break
print(json.dumps(sorted(names)), flush=True)
