"""The node of tandem ros with so many calls that nobody has answered yet; prints how many of 100
messages it hears meanwhile."""

import sys
import time

import rclpy
from std_msgs.msg import Bool
from std_srvs.srv import Trigger

from host_bridge.ros2.bus.bus import Bus

bus = Bus("unanswered_calls", "", lambda: time.monotonic_ns() // 1000)
heard, replies = [], []
bus.subscribe("patience", "std_msgs/msg/Bool", lambda message, received_us: heard.append(message))
bus.serve("unanswered_calls", "std_srvs/srv/Trigger", lambda request, reply: replies.append(reply))
rclpy.init()
node = rclpy.create_node("impatient")
publisher = node.create_publisher(Bool, "patience", 10)
client = node.create_client(Trigger, "unanswered_calls")
client.wait_for_service(10)
futures = [client.call_async(Trigger.Request()) for _ in range(int(sys.argv[1]))]
print("talking", flush=True)


def steps(count, is_said):
    for _ in range(count):
        if is_said:
            publisher.publish(Bool())
        bus.step()
        time.sleep(0.01)


while len(replies) < len(futures):
    steps(1, is_said=False)
steps(100, is_said=True)
for reply in replies:
    reply(True, "at last")
while any(not future.done() for future in futures):
    steps(1, is_said=False)
    rclpy.spin_once(node, timeout_sec=0)
print(len(heard), [future.result().message for future in futures], flush=True)
