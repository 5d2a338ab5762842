"""Pose sources: whoever says where a car is, and when a pose is not to be believed."""
