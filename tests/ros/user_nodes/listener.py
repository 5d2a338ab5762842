"""Hears topics for a while: SECONDS TOPIC=TYPE...; prints count and last message of each as JSON.

Its quality of service is what users' nodes have: reliable and volatile, depth 10; what is latched
is asked for as that.
"""

import json
import math
import sys
import time
from importlib import import_module

import rclpy
from rclpy.qos import DurabilityPolicy, QoSProfile

LATCHED = ("_static", "is_stopped", "why_stopped", "robot_description")


def plain(value):
    """A message as tables and lists."""
    if hasattr(value, "get_fields_and_field_types"):
        return {name: plain(getattr(value, name)) for name in value.get_fields_and_field_types()}
    if hasattr(value, "tolist"):  # an array
        value = value.tolist()
    if isinstance(value, (list, tuple)):
        return [plain(it) for it in value]
    if isinstance(value, float) and math.isinf(value):
        return None
    return value.hex() if isinstance(value, bytes) else value


seconds, *named = sys.argv[1:]
rclpy.init()
node = rclpy.create_node("listener")
heard = {}


def hear(topic, message):
    row = heard.setdefault(topic, {"count": 0, "first_s": time.monotonic(), "stamps_s": []})
    row.update(count=row["count"] + 1, last_s=time.monotonic(), message=message)
    if hasattr(message, "header"):
        row["stamps_s"].append(message.header.stamp.sec + message.header.stamp.nanosec * 1e-9)
        row["age_s"] = time.time() - row["stamps_s"][-1]


for one in named:
    topic, type_name = one.split("=")
    package, kind, name = type_name.split("/")
    qos = QoSProfile(depth=10)
    if topic.endswith(LATCHED):
        qos = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
    node.create_subscription(
        getattr(import_module(f"{package}.{kind}"), name),
        topic,
        lambda message, topic=topic: hear(topic, message),
        qos,
    )
print("talking", flush=True)
# From the first message on: until then the two are still finding each other
deadline_s = time.monotonic() + 60
while time.monotonic() < deadline_s and len(heard) < len(named):
    rclpy.spin_once(node, timeout_sec=0.1)
end_s = time.monotonic() + float(seconds)
while time.monotonic() < end_s:
    rclpy.spin_once(node, timeout_sec=0.1)
for row in heard.values():
    took_s = row.pop("last_s") - row.pop("first_s")
    row["hz"] = (row["count"] - 1) / took_s if took_s > 0 else 0.0
    row["message"] = plain(row["message"])
print(json.dumps(heard), flush=True)
