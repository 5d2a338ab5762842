"""The ROS 2 interface: drives a car through the topics that a community's nodes already use."""

from host_bridge.ros2.node.making import make
from host_bridge.ros2.node.node import RosInput
from host_bridge.ros2.planning_simulator.command import simulate
from host_bridge.ros2.planning_simulator.files import parameter
from host_bridge.ros2.planning_simulator.node import MOTION_TOPICS
from host_bridge.ros2.vocabularies.tables import VOCABULARIES

__all__ = ["MOTION_TOPICS", "VOCABULARIES", "RosInput", "make", "parameter", "simulate"]
