"""All vocabularies by name, and what is particular to each."""

from __future__ import annotations

from collections.abc import Callable

from host_bridge.interfaces.ros2.autodrive import CARS, Simulated
from host_bridge.interfaces.ros2.autorally import AUTORALLY, Chassis
from host_bridge.interfaces.ros2.autoware import AUTOWARE, VehicleInterface
from host_bridge.interfaces.ros2.gym import GYM, Gym
from host_bridge.interfaces.ros2.manner import Manner
from host_bridge.interfaces.ros2.vocabulary import F1TENTH

VOCABULARIES = {
    vocabulary.name: vocabulary
    for vocabulary in (
        F1TENTH,
        GYM,
        *CARS,
        AUTOWARE,
        AUTORALLY,
    )
}
MANNERS: dict[str, Callable[[], Manner]] = {
    GYM.name: Gym,
    **{car.name: Simulated for car in CARS},
    AUTOWARE.name: VehicleInterface,
    AUTORALLY.name: Chassis,
}


def manner_of(name: str) -> Manner:
    """The manner of a vocabulary; plain for those that have none of their own."""
    return MANNERS.get(name, Manner)()
