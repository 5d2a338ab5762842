"""Calls a service of tandem ros: /tandem/stop, /tandem/clear, /tandem/arm."""

import sys

import rclpy
from std_srvs.srv import SetBool, Trigger

name = sys.argv[1]
rclpy.init()
node = rclpy.create_node("caller")
kind = SetBool if name.endswith("arm") else Trigger
client = node.create_client(kind, name)
print("talking", flush=True)
client.wait_for_service(10)
request = kind.Request()
if kind is SetBool:
    request.data = True
future = client.call_async(request)
rclpy.spin_until_future_complete(node, future, timeout_sec=10)
answer = future.result()
print(answer and answer.success, answer and answer.message, flush=True)
