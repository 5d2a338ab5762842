"""ROS 2: a car in the topics that users' nodes have."""

from host_bridge.interfaces.ros2.making import make
from host_bridge.interfaces.ros2.node import RosInput
from host_bridge.interfaces.ros2.tables import VOCABULARIES

__all__ = ["VOCABULARIES", "RosInput", "make"]
