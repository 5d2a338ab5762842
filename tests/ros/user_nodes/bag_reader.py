"""Reads a bag with the message classes of ROS 2 itself: count and last message of each topic.

``same`` says whether serializing what was read takes as many bytes and reads the same again; the
bytes between fields are whatever they happened to be.
"""

import json
import math
import sys
from importlib import import_module

from mcap.reader import make_reader
from rclpy.serialization import deserialize_message, serialize_message


def plain(value):
    if hasattr(value, "get_fields_and_field_types"):
        return {name: plain(getattr(value, name)) for name in value.get_fields_and_field_types()}
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, (list, tuple)):
        return [plain(it) for it in value]
    if isinstance(value, float) and math.isinf(value):
        return None
    return value.hex() if isinstance(value, bytes) else value


found = {}
with open(sys.argv[1], "rb") as file:
    for schema, channel, message in make_reader(file).iter_messages():
        package, kind, name = schema.name.split("/")
        one = deserialize_message(message.data, getattr(import_module(f"{package}.{kind}"), name))
        row = found.setdefault(channel.topic, {"count": 0, "same": True})
        again = serialize_message(one)
        row["same"] &= -4 < len(again) - len(message.data) < 4  # the tail may be padded
        row["same"] &= deserialize_message(again, type(one)) == one
        row.update(count=row["count"] + 1, last=plain(one))
print(json.dumps(found))
