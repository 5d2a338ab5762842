"""Says /clock a hundred times a second, from SECONDS on; after each JUMP_EVERY seconds it jumps to
and fro by JUMP: SECONDS JUMP_EVERY JUMP."""

import sys
import time

import rclpy
from rosgraph_msgs.msg import Clock

first_s, every_s, jump_s = map(float, sys.argv[1:])
rclpy.init()
node = rclpy.create_node("clock")
publisher = node.create_publisher(Clock, "/clock", 10)
print("talking", flush=True)
begun_s = time.monotonic()
while True:
    past_s = time.monotonic() - begun_s
    said_s = first_s + past_s + (jump_s if int(past_s / every_s) % 2 else 0.0)
    message = Clock()
    message.clock.sec, message.clock.nanosec = divmod(int(said_s * 1e9), 1_000_000_000)
    publisher.publish(message)
    time.sleep(0.01)
