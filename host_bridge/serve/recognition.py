"""Which type of vehicle a car is, by the configuration that it reports."""

from __future__ import annotations

from collections.abc import Iterable

from host_bridge import pairing
from host_bridge.config import config_hash
from host_bridge.domain import CarIdentity, Vehicle


def hash_for(vehicle: Vehicle, identity: CarIdentity) -> bytes:
    """The configuration hash of this very car if it were of this vehicle: as it was trimmed here,
    if it reports that, else as the file has it."""
    known = pairing.load(identity.board_id)
    trimmed = _hash_for(known.of(vehicle), identity) if known else b""
    return trimmed if trimmed == identity.config_hash else _hash_for(vehicle, identity)


def recognised(identity: CarIdentity, vehicles: Iterable[Vehicle]) -> Vehicle | None:
    """The vehicle whose numbers the car holds, if one of these."""
    for vehicle in vehicles:
        if hash_for(vehicle, identity) == identity.config_hash:
            return vehicle
    return None


def _hash_for(vehicle: Vehicle, identity: CarIdentity) -> bytes:
    return config_hash(vehicle, identity.board_id, identity.car_name)
