"""Publishes std_msgs over and over, once somebody listens: HZ TOPIC=TYPE=VALUE..., data as JSON."""

import itertools
import json
import sys
import time

import rclpy
from std_msgs import msg

_HEARD = 10  # of so many the other side, which finds this one a moment later, has heard some
hz, *named = sys.argv[1:]
rclpy.init()
node = rclpy.create_node("sayer")
said = []
for one in named:
    topic, type_name, value = one.split("=")
    kind = getattr(msg, type_name)
    said.append((node.create_publisher(kind, topic, 10), kind(data=json.loads(value))))
while not all(publisher.get_subscription_count() for publisher, _ in said):
    time.sleep(0.05)
next_s = time.monotonic()
for count in itertools.count():
    if count == _HEARD:
        print("talking", flush=True)
    for publisher, message in said:
        publisher.publish(message)
    next_s += 1 / float(hz)
    time.sleep(max(0.0, next_s - time.monotonic()))
