"""Calls a service: NAME [TYPE FIELDS], fields as JSON; by itself it knows those of tandem ros.

Prints whether it was done, and the words of the answer if it has some.
"""

import json
import sys
from importlib import import_module

import rclpy

name, *rest = sys.argv[1:]
if not rest:
    rest = ["std_srvs/SetBool", '{"data": true}'] if name.endswith("arm") else ["std_srvs/Trigger"]
package, kind_name = rest[0].split("/")
kind = getattr(import_module(f"{package}.srv"), kind_name)
rclpy.init()
node = rclpy.create_node("service_caller")
client = node.create_client(kind, name)
print("talking", flush=True)
client.wait_for_service(60)
request = kind.Request()


def set_fields(message, fields):
    for field, value in fields.items():
        if isinstance(value, dict):
            set_fields(getattr(message, field), value)
        else:
            setattr(message, field, value)


set_fields(request, json.loads(rest[1] if len(rest) > 1 else "{}"))
future = client.call_async(request)
rclpy.spin_until_future_complete(node, future, timeout_sec=60)
answer = future.result()
if hasattr(answer, "status"):
    print(answer.status.code == answer.status.SUCCESS, answer.status.message, flush=True)
else:
    print(answer and answer.success, getattr(answer, "message", ""), flush=True)
