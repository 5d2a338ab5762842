"""The types of vehicle there are, and which of them a car is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from host_bridge.config import config_hash, load_vehicle, vehicle_names
from host_bridge.config.boards import on_known_boards
from host_bridge.domain import CarIdentity, KnownCar, Vehicle
from host_bridge.services.pairings import Pairings


class Vehicles:
    """Vehicle files by name or path, and cars recognised by the configuration that they report."""

    def __init__(self, pairings: Pairings) -> None:
        self._pairings = pairings
        self._loaded: dict[str, Vehicle] = {}

    def names(self) -> tuple[str, ...]:
        """The types that Tandem brings along, sorted."""
        return vehicle_names()

    def load(self, name: str, changes: Mapping[str, Any] | None = None) -> Vehicle:
        """Load a type of vehicle by its name or its file's path.

        ``changes`` are values of the file that are to be others, by key, as
        ``{"timing.step_s": 0.02}``. Raises errors.VehicleFileFault.
        """
        if changes:
            return load_vehicle(name, changes)
        if name not in self._loaded:
            self._loaded[name] = load_vehicle(name)
        return self._loaded[name]

    def recognised(self, identity: CarIdentity) -> Vehicle | None:
        """The type whose numbers the car reports to hold, if it is one of ``names``."""
        for vehicle in map(self.load, self.names()):
            if self.expected_hash(vehicle, identity) == identity.config_hash:
                return vehicle
        return None

    def cars_named(self, name: str) -> tuple[KnownCar, ...]:
        """The cars that this host keeps by a name. Raises errors.DataFileFault."""
        return self._pairings.named(name)

    def expected_hash(self, vehicle: Vehicle, identity: CarIdentity) -> bytes:
        """The configuration hash of this very car if it is of this type.

        That is as it was trimmed here, or as a slow board has it, if the car reports that, and
        else as the file has it.
        """
        for variant in self._variants(vehicle, identity):
            expected = config_hash(variant, identity.board_id, identity.car_name)
            if expected == identity.config_hash:
                return expected
        return config_hash(vehicle, identity.board_id, identity.car_name)

    def _variants(self, vehicle: Vehicle, identity: CarIdentity) -> Iterator[Vehicle]:
        """The likeliest first; the last ones take a reading of files."""
        yield vehicle
        known = self._pairings.of(identity)
        if known:
            yield known.of(vehicle)
        yield from on_known_boards(vehicle)
