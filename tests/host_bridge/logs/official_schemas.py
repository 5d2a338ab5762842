"""Decodes rows by Foxglove's own schemas, as its library has them: any difference is an error.

The library's descriptors are of Protobuf. Their JSON differs in three ways from Protobuf's own:
times are ``sec`` and ``nsec``, enumerations are numbers, and fields have their names as written.
"""

from __future__ import annotations

from base64 import b64decode
from functools import cache
from typing import Any

import foxglove.messages
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from google.protobuf.descriptor import FieldDescriptor

_TIMES = ("google.protobuf.Timestamp", "google.protobuf.Duration")


@cache
def message_class(name: str) -> type:
    """The class of a message by its schema's name, foxglove.Log, from the library's descriptors."""
    schema = getattr(foxglove.messages, name.removeprefix("foxglove.")).get_schema()
    files = descriptor_pb2.FileDescriptorSet.FromString(schema.data)
    pool = descriptor_pool.DescriptorPool()
    for file in files.file:
        pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName(name))


def decoded(name: str, row: dict[str, Any]) -> Any:
    """The row as a message of that schema. Raises ValueError for what the schema has not."""
    message = message_class(name)()
    _fill(message, row)
    again = type(message).FromString(message.SerializeToString())
    assert again == message
    return again


def _fill(message: Any, row: dict[str, Any]) -> None:
    fields = message.DESCRIPTOR.fields_by_name
    if message.DESCRIPTOR.full_name in _TIMES:
        if set(row) != {"sec", "nsec"} or not 0 <= row["nsec"] < 1_000_000_000:
            raise ValueError(f"{row} is no time")
        message.seconds, message.nanos = row["sec"], row["nsec"]
        return
    for key, value in row.items():
        if key not in fields:
            raise ValueError(f"{message.DESCRIPTOR.full_name} has no {key}")
        _put(message, fields[key], value)


def _put(message: Any, field: FieldDescriptor, value: Any) -> None:
    is_many = field.is_repeated
    if is_many != isinstance(value, list):
        raise ValueError(f"{field.full_name} is {value!r}")
    if field.message_type is not None:
        for one in value if is_many else [value]:
            part = getattr(message, field.name)
            _fill(part.add() if is_many else part, one)
            if not is_many:
                part.SetInParent()
    elif is_many:
        getattr(message, field.name).extend(value)
    elif field.enum_type is not None:
        if value not in field.enum_type.values_by_number:
            raise ValueError(f"{field.full_name} has no {value}")
        setattr(message, field.name, value)
    else:
        is_bytes = field.type == FieldDescriptor.TYPE_BYTES
        setattr(message, field.name, b64decode(value, validate=True) if is_bytes else value)
