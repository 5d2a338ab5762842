"""ROS 2: a car in the topics that users' nodes have."""

from host_bridge.interfaces.ros2.node import RosInput, make
from host_bridge.interfaces.ros2.vocabulary import VOCABULARIES

__all__ = ["VOCABULARIES", "RosInput", "make"]
