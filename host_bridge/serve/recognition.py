"""Which type of vehicle a car is, by the configuration that it reports."""

from __future__ import annotations

from collections.abc import Iterable

from host_bridge.config import config_hash
from host_bridge.domain import CarIdentity, Vehicle


def hash_for(vehicle: Vehicle, identity: CarIdentity) -> bytes:
    """The configuration hash of this very car if it were of this vehicle."""
    return config_hash(vehicle, identity.board_id, identity.car_name)


def recognised(identity: CarIdentity, vehicles: Iterable[Vehicle]) -> Vehicle | None:
    """The vehicle whose numbers the car holds, if one of these."""
    for vehicle in vehicles:
        if hash_for(vehicle, identity) == identity.config_hash:
            return vehicle
    return None
