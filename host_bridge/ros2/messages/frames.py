"""Adds a namespace to the frames of a vocabulary: one transform tree for all cars.

``/tf`` is one topic for everybody. So the frames that belong to a car get the namespace as prefix,
as is usual for several robots under REP 105, and the frames of the world stay as they are.
"""

from __future__ import annotations

from dataclasses import replace

from host_bridge.ros2.vocabularies.topics import ABSOLUTE_FRAMES
from host_bridge.ros2.vocabularies.vocabulary import Vocabulary


def with_namespace(vocabulary: Vocabulary, namespace: str) -> Vocabulary:
    """Return the vocabulary with the car's frames under this namespace."""
    return replace(
        vocabulary,
        publications=tuple(
            replace(it, frame=_named(it.frame, namespace)) for it in vocabulary.publications
        ),
        mounts=tuple(replace(it, frame=_named(it.frame, namespace)) for it in vocabulary.mounts),
        odom_frame=_named(vocabulary.odom_frame, namespace),
        base_frame=_named(vocabulary.base_frame, namespace),
        scan_frame=_named(vocabulary.scan_frame, namespace),
    )


def _named(frame: str, namespace: str) -> str:
    prefix = namespace.strip("/")
    return f"{prefix}/{frame}" if prefix and frame and frame not in ABSOLUTE_FRAMES else frame
