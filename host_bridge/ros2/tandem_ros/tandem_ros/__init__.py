"""Tandem as a ROS 2 package."""
