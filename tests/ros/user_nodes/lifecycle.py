"""Takes a node through its lifecycle: NODE TRANSITION...; prints whether, and the state after."""

import sys

import rclpy
from lifecycle_msgs.msg import Transition
from lifecycle_msgs.srv import ChangeState, GetState

name, *transitions = sys.argv[1:]
rclpy.init()
node = rclpy.create_node("lifecycle")
print("talking", flush=True)


def asked(kind, service, request):
    client = node.create_client(kind, f"{name}/{service}")
    client.wait_for_service(60)
    future = client.call_async(request)
    rclpy.spin_until_future_complete(node, future, timeout_sec=120)
    return future.result()


def state():
    return asked(GetState, "get_state", GetState.Request()).current_state.label


for transition in transitions:
    number = getattr(Transition, f"TRANSITION_{transition.upper()}")
    request = ChangeState.Request(transition=Transition(id=number))
    print(transition, asked(ChangeState, "change_state", request).success, state(), flush=True)
if not transitions:
    print(state(), flush=True)
