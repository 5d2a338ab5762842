"""All vocabularies by name, and the adapter of each."""

from __future__ import annotations

from collections.abc import Callable

from host_bridge.ros2.node.vocabulary_adapter import Manner
from host_bridge.ros2.vocabularies.autodrive.vocabulary import CARS, Simulated
from host_bridge.ros2.vocabularies.autorally.vocabulary import AUTORALLY, Chassis
from host_bridge.ros2.vocabularies.autoware.vocabulary import AUTOWARE, VehicleInterface
from host_bridge.ros2.vocabularies.f1tenth.gym import GYMS, Gym
from host_bridge.ros2.vocabularies.vocabulary import F1TENTH

VOCABULARIES = {
    vocabulary.name: vocabulary
    for vocabulary in (
        F1TENTH,
        *GYMS,
        *CARS,
        AUTOWARE,
        AUTORALLY,
    )
}
MANNERS: dict[str, Callable[[], Manner]] = {
    **{gym.name: Gym for gym in GYMS},
    **{car.name: Simulated for car in CARS},
    AUTOWARE.name: VehicleInterface,
    AUTORALLY.name: Chassis,
}


def manner_of(name: str) -> Manner:
    """Return a new adapter for a vocabulary; the base class if it has none of its own."""
    return MANNERS.get(name, Manner)()
