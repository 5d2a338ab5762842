"""Writer of bags that ROS 2 plays: MCAP files whose messages are all serialized by CDR.

A log of Tandem has rows of JSON and bytes of the wire side by side; the player of ROS 2 needs one
serialization in a file, ``cdr``, and each type's definition as its schema.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from mcap.writer import Writer

from host_bridge.core.errors import DataFileFault
from host_bridge.logs.bags.ros_types import typestore
from host_bridge.logs.new_file import open_new

# The QoS profile of latched topics: reliable, and kept for late subscribers
_LATCHED = (
    "- history: 1\n  depth: 1\n  reliability: 1\n  durability: 1\n"
    "  deadline:\n    sec: 9223372036\n    nsec: 854775807\n"
    "  lifespan:\n    sec: 9223372036\n    nsec: 854775807\n"
    "  liveliness: 1\n  liveliness_lease_duration:\n    sec: 9223372036\n    nsec: 854775807\n"
    "  avoid_ros_namespace_conventions: false\n"
)


class BagWriter:
    """One new bag, open until the end of ``with``; ``counts`` has its messages by topic."""

    def __init__(self, path: Path) -> None:
        """Create the file.

        Raises errors.DataFileFault if it exists, DeviceFault without rosbags.
        """
        self._store = typestore()
        self._path = path
        self._file = open_new(path, "the bag")
        self.counts: dict[str, int] = {}
        self._writer: Any = Writer(self._file)
        self._writer.start(profile="ros2", library="tandem")
        self._schemas: dict[str, int] = {}
        self._channels: dict[str, int] = {}

    def write(
        self, topic: str, type_name: str, message: Any, time_ns: int, *, is_latched: bool = False
    ) -> None:
        """Write one message with its wall time. Raises errors.DataFileFault."""
        if topic not in self._channels:
            self._channels[topic] = self._writer.register_channel(
                topic,
                "cdr",
                self._schema(type_name),
                {"offered_qos_profiles": _LATCHED} if is_latched else {},
            )
        data = bytes(self._store.serialize_cdr(message, type_name))
        count = self.counts[topic] = self.counts.get(topic, 0) + 1
        try:
            self._writer.add_message(self._channels[topic], time_ns, data, time_ns, count)
        except OSError as error:
            raise DataFileFault.unwritable("the bag", self._path, error) from None

    def _schema(self, type_name: str) -> int:
        if type_name not in self._schemas:
            definition, _ = self._store.generate_msgdef(type_name, ros_version=2)
            self._schemas[type_name] = self._writer.register_schema(
                type_name, "ros2msg", definition.encode()
            )
        return self._schemas[type_name]

    def __enter__(self) -> BagWriter:
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self._writer.finish()
            self._file.close()
        except OSError as error:
            raise DataFileFault.unwritable("the bag", self._path, error) from None
