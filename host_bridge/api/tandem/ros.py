"""The parts of a ROS vocabulary of your own; importing it needs no ROS.

host_bridge/ros2/vocabularies/README.md adds one.
"""

from __future__ import annotations

from host_bridge.ros2.bus.bus import Bus
from host_bridge.ros2.node.mux import MuxSource, StampedCommand
from host_bridge.ros2.node.vocabulary_adapter import MessageFiller, NodeApi, VocabularyAdapter
from host_bridge.ros2.vocabularies.topics import (
    Content,
    MuxRow,
    Publication,
    Subscription,
    UnsupportedTopic,
)
from host_bridge.ros2.vocabularies.vocabulary import Vocabulary

__all__ = [
    "Bus",
    "Content",
    "MessageFiller",
    "MuxRow",
    "MuxSource",
    "NodeApi",
    "Publication",
    "StampedCommand",
    "Subscription",
    "UnsupportedTopic",
    "Vocabulary",
    "VocabularyAdapter",
]
