"""Which type of vehicle a car is, by the configuration that it reports."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from host_bridge import pairing
from host_bridge.config import config_hash
from host_bridge.config.boards import on_known_boards
from host_bridge.domain import CarIdentity, Vehicle


def hash_for(vehicle: Vehicle, identity: CarIdentity) -> bytes:
    """The configuration hash of this very car if it were of this vehicle: as it was trimmed here or
    as a slow board has it, if it reports that, else as the file has it."""
    for variant in _variants(vehicle, identity):
        expected = config_hash(variant, identity.board_id, identity.car_name)
        if expected == identity.config_hash:
            return expected
    return config_hash(vehicle, identity.board_id, identity.car_name)


def recognised(identity: CarIdentity, vehicles: Iterable[Vehicle]) -> Vehicle | None:
    """The vehicle whose numbers the car holds, if one of these."""
    for vehicle in vehicles:
        if hash_for(vehicle, identity) == identity.config_hash:
            return vehicle
    return None


def _variants(vehicle: Vehicle, identity: CarIdentity) -> Iterator[Vehicle]:
    """The likeliest first; the last ones take a reading of files."""
    yield vehicle
    known = pairing.load(identity.board_id)
    if known:
        yield known.of(vehicle)
    yield from on_known_boards(vehicle)
