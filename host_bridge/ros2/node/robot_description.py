"""The topics that every car publishes in any vocabulary: its URDF and its joint states."""

from __future__ import annotations

from host_bridge.core import SeenCar, Vehicle
from host_bridge.ros2.bus.bus import Bus
from host_bridge.ros2.bus.message_types import message_class
from host_bridge.ros2.messages.urdf import CarDimensions, joint_positions, urdf
from host_bridge.ros2.vocabularies.vocabulary import Vocabulary

_EVERY = 2  # steps of 10 ms: 50 Hz
_JOINTS = "sensor_msgs/msg/JointState"
_STRING = "std_msgs/msg/String"


class RobotDescriptionPublisher:
    """The publisher of ``robot_description`` (latched) and ``joint_states``."""

    def __init__(self, bus: Bus, vocabulary: Vocabulary, vehicle: Vehicle) -> None:
        """Publish the robot description.

        Raises errors.DeviceFault for a missing message type.
        """
        self._bus = bus
        self._dimensions = CarDimensions.of(vehicle)
        self._m_per_count = vehicle.parameters["nm_per_count"][0] * 1e-9
        self._joints = bus.publisher(f"{vocabulary.prefix}joint_states", _JOINTS)
        self._count = 0
        description = bus.publisher(
            f"{vocabulary.prefix}robot_description", _STRING, is_latched=True
        )
        message = message_class(_STRING)()
        message.data = urdf(vehicle, vocabulary.base_frame, vocabulary.scan_frame)
        description.publish(message)

    def step(self, car: SeenCar) -> None:
        """Publish the joint states, on every second step."""
        self._count += 1
        if self._count % _EVERY or not (car.is_online and car.status and car.motion):
            return
        found = joint_positions(self._dimensions, car.status, car.motion, self._m_per_count)
        message = message_class(_JOINTS)()
        message.header.stamp = self._bus.stamp()
        message.name, message.position = list(found), list(found.values())
        self._joints.publish(message)
