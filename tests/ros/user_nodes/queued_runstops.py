"""Two publishers say runstop, the first false and then the second true, each before anybody
listens; prints what the node of tandem ros with a queue of DEPTH hears of that."""

import sys
import time

import rclpy
from std_msgs.msg import Bool

from host_bridge.ros2.bus.bus import Bus

bus = Bus("queued_runstops", "", lambda: time.monotonic_ns() // 1000)
heard = []
bus.subscribe(
    "runstop",
    "std_msgs/msg/Bool",
    lambda message, received_us: heard.append(message.data),
    depth=int(sys.argv[1]),
)
rclpy.init()
node = rclpy.create_node("sayers")
publishers = [node.create_publisher(Bool, "runstop", 10) for _ in range(2)]
while any(not publisher.get_subscription_count() for publisher in publishers):
    time.sleep(0.05)
time.sleep(0.5)  # the two directions of finding each other
print("talking", flush=True)
for publisher, runs in zip(publishers, (False, True), strict=True):
    publisher.publish(Bool(data=runs))
time.sleep(0.5)
for _ in range(5):
    bus.step()
print(*heard, flush=True)
