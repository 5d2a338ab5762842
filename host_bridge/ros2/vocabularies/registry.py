"""All vocabularies by name, and the adapter of each."""

from __future__ import annotations

from collections.abc import Callable

from host_bridge.ros2.node.vocabulary_adapter import VocabularyAdapter
from host_bridge.ros2.vocabularies.autodrive.vocabulary import (
    AUTODRIVE_VOCABULARIES,
    AutodriveAdapter,
)
from host_bridge.ros2.vocabularies.autorally.vocabulary import AUTORALLY, AutorallyAdapter
from host_bridge.ros2.vocabularies.autoware.vocabulary import AUTOWARE, AutowareAdapter
from host_bridge.ros2.vocabularies.f1tenth.gym import GYM_VOCABULARIES, GymAdapter
from host_bridge.ros2.vocabularies.vocabulary import F1TENTH

VOCABULARIES = {
    vocabulary.name: vocabulary
    for vocabulary in (
        F1TENTH,
        *GYM_VOCABULARIES,
        *AUTODRIVE_VOCABULARIES,
        AUTOWARE,
        AUTORALLY,
    )
}
ADAPTERS: dict[str, Callable[[], VocabularyAdapter]] = {
    **{gym.name: GymAdapter for gym in GYM_VOCABULARIES},
    **{car.name: AutodriveAdapter for car in AUTODRIVE_VOCABULARIES},
    AUTOWARE.name: AutowareAdapter,
    AUTORALLY.name: AutorallyAdapter,
}


def adapter_of(name: str) -> VocabularyAdapter:
    """Return a new adapter for a vocabulary; the base class if it has none of its own."""
    return ADAPTERS.get(name, VocabularyAdapter)()
