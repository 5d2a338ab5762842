"""Asks a node for its parameters: NODE NAME...; prints them as JSON, and whether one can be set."""

import json
import sys
import time

import rclpy
from rcl_interfaces.msg import Parameter, ParameterType, ParameterValue
from rcl_interfaces.srv import GetParameters, SetParameters

name, *parameters = sys.argv[1:]
FIELDS = {
    ParameterType.PARAMETER_BOOL: "bool_value",
    ParameterType.PARAMETER_INTEGER: "integer_value",
    ParameterType.PARAMETER_DOUBLE: "double_value",
    ParameterType.PARAMETER_STRING: "string_value",
    ParameterType.PARAMETER_NOT_SET: "type",
}
rclpy.init()
node = rclpy.create_node("parameter_reader")
print("talking", flush=True)


def asked(kind, service, **fields):
    client = node.create_client(kind, f"{name}/{service}")
    client.wait_for_service(10)
    future = client.call_async(kind.Request(**fields))
    rclpy.spin_until_future_complete(node, future, timeout_sec=10)
    return future.result()


values = asked(GetParameters, "get_parameters", names=parameters).values
found = {key: getattr(it, FIELDS[it.type]) for key, it in zip(parameters, values, strict=True)}
other = ParameterValue(type=ParameterType.PARAMETER_DOUBLE, double_value=9.0)
result = asked(
    SetParameters, "set_parameters", parameters=[Parameter(name=parameters[0], value=other)]
).results[0]
for _ in range(100):  # it takes a moment until all names are here
    names = {f"{space.rstrip('/')}/{one}" for one, space in node.get_node_names_and_namespaces()}
    if name in names:
        break
    time.sleep(0.05)
print(json.dumps({"values": found, "is_set": result.successful, "nodes": sorted(names)}))
