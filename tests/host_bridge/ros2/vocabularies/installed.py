"""The vocabularies that this package offers, by name."""

from importlib.metadata import distribution

from host_bridge.ros2.vocabularies.registry import GROUP, find_vocabulary

NAMES = [it.name for it in distribution("tandem-cars").entry_points if it.group == GROUP]
VOCABULARIES = {name: find_vocabulary(name) for name in NAMES}
