"""Publishes over and over, once somebody listens: HZ [latched] TOPIC=TYPE=VALUE...

TYPE is one of std_msgs, whose data VALUE is, as JSON; or PACKAGE/Type with its fields as JSON.
Stamps are those of the moment. "latched" keeps the last for late comers, as Autoware's gate does.
"""

import itertools
import json
import sys
import time
from importlib import import_module

import rclpy
from rclpy.qos import DurabilityPolicy, QoSProfile

_HEARD = 10  # of so many the other side, which finds this one a moment later, has heard some
hz, *named = sys.argv[1:]
qos = QoSProfile(depth=10)
if "latched" in named:
    named.remove("latched")
    qos = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)


def set_fields(message, fields):
    for name, value in fields.items():
        if isinstance(value, dict):
            set_fields(getattr(message, name), value)
        else:
            setattr(message, name, value)


def stamped(message, now):
    stamped_part = message.header if hasattr(message, "header") else message
    if hasattr(stamped_part, "stamp"):
        stamped_part.stamp = now


rclpy.init()
node = rclpy.create_node("topic_publisher")
said = []
for one in named:
    topic, type_name, value = one.split("=", 2)
    package, _, name = type_name.rpartition("/")
    kind = getattr(import_module(f"{package or 'std_msgs'}.msg"), name)
    message = kind()
    fields = json.loads(value)
    set_fields(message, fields if package else {"data": fields})
    said.append((node.create_publisher(kind, topic, qos), message))
while any(not publisher.get_subscription_count() for publisher, _ in said):
    time.sleep(0.05)
next_s = time.monotonic()
for count in itertools.count():
    if count == _HEARD:
        print("talking", flush=True)
    for publisher, message in said:
        stamped(message, node.get_clock().now().to_msg())
        publisher.publish(message)
    next_s += 1 / float(hz)
    time.sleep(max(0.0, next_s - time.monotonic()))
