"""The ROS 2 interface: drives a car through the topics that a community's nodes already use."""

from host_bridge.interfaces.ros2.making import make
from host_bridge.interfaces.ros2.node import RosInput
from host_bridge.interfaces.ros2.planning_files import parameter
from host_bridge.interfaces.ros2.planning_node import MOTION_TOPICS
from host_bridge.interfaces.ros2.planning_simulator import simulate
from host_bridge.interfaces.ros2.tables import VOCABULARIES

__all__ = ["MOTION_TOPICS", "VOCABULARIES", "RosInput", "make", "parameter", "simulate"]
