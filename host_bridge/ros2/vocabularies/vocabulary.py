"""A vocabulary: the topics, frames and mux rows of one community, and its adapter.

Nothing here imports rclpy; a test compares the tables with the facts that they were written from.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from host_bridge.ros2.node.vocabulary_adapter import VocabularyAdapter
from host_bridge.ros2.vocabularies.topics import (
    Mount,
    MuxRow,
    Publication,
    Subscription,
    UnsupportedTopic,
)


@dataclass(frozen=True)
class Vocabulary:
    """The topics, frames and mux rows by which one community's cars are driven."""

    name: str
    title: str
    subscriptions: tuple[Subscription, ...]
    publications: tuple[Publication, ...]
    mux: tuple[MuxRow, ...]
    odom_frame: str
    base_frame: str
    scan_frame: str
    like: str = "f1tenth"  # the AutoDRIVE car by whose top speed and full lock shares count
    unsupported: tuple[UnsupportedTopic, ...] = ()
    mounts: tuple[Mount, ...] = ()  # frames of its messages besides base_frame and scan_frame
    node: str = "tandem"
    prefix: str = ""  # in front of the topics that all cars share: joint_states, robot_description
    older: Vocabulary | None = None  # the same in the community's messages of before
    adapter: Callable[[], VocabularyAdapter] = VocabularyAdapter  # makes one for each node


def without_truth(vocabulary: Vocabulary) -> Vocabulary:
    """Return the vocabulary of a real car: nothing that is known of virtual ones alone."""
    known = tuple(it for it in vocabulary.publications if not it.is_of_virtual)
    return replace(vocabulary, publications=known)
