"""The ROS 2 interface: drives a car through the topics that a community's nodes already use."""

from host_bridge.ros2.node.make_input import make
from host_bridge.ros2.node.ros_input import RosInput
from host_bridge.ros2.planning_simulator.parameter_files import parameter
from host_bridge.ros2.planning_simulator.simulate import simulate
from host_bridge.ros2.planning_simulator.topics import MOTION_TOPICS
from host_bridge.ros2.vocabularies.registry import vocabulary_names

__all__ = ["MOTION_TOPICS", "RosInput", "make", "parameter", "simulate", "vocabulary_names"]
