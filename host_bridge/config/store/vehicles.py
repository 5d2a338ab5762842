"""The service for vehicle types: it loads them, and recognises a car's type."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from host_bridge.config import config_hash, load_vehicle, vehicle_names, vehicle_word
from host_bridge.config.boards import on_known_boards
from host_bridge.config.store.origins import Origins
from host_bridge.config.store.pairings import Pairings
from host_bridge.core import CarIdentity, KnownCar, Vehicle
from host_bridge.core.errors import VehicleFileFault
from host_bridge.core.files.packaged_files import VEHICLES, packaged_file


class Vehicles:
    """Vehicle files by name or path, and cars recognised by the configuration hash they report."""

    def __init__(self, pairings: Pairings, origins: Origins | None = None) -> None:
        self._pairings = pairings
        self._origins = origins or Origins()
        self._loaded: dict[str, Vehicle] = {}

    def names(self) -> tuple[str, ...]:
        """Return the types of Tandem and of other installed packages, sorted."""
        return vehicle_names()

    def load(self, name: str, changes: Mapping[str, Any] | None = None) -> Vehicle:
        """Load a type of vehicle by its name or its file's path.

        ``changes`` are values that replace the file's, by key, such as ``{"timing.step_s":
        0.02}``. Raises errors.VehicleFileFault.
        """
        if changes:
            return load_vehicle(name, changes)
        if name not in self._loaded:
            self._loaded[name] = load_vehicle(name)
        return self._loaded[name]

    def recognised(self, identity: CarIdentity) -> Vehicle | None:
        """Return the type whose configuration the car reports; None if none fits.

        It is one of ``names``, or the file of one's own from which this host configured the car.
        """
        for name in self.names():
            try:
                vehicle = self.load(name)
            except VehicleFileFault:
                if packaged_file(VEHICLES, name) is None:
                    raise
                continue  # another package's, which must not hide the car from everybody
            if self.expected_hash(vehicle, identity) == identity.config_hash:
                return vehicle
        return self._of_origin(identity)

    def _of_origin(self, identity: CarIdentity) -> Vehicle | None:
        path = self._origins.of(identity)
        if path is None:
            return None
        try:
            vehicle = self.load(path)
        except VehicleFileFault:
            return None  # gone or damaged since: the car can still be seen and stopped
        return vehicle if self.expected_hash(vehicle, identity) == identity.config_hash else None

    def origin(self, identity: CarIdentity) -> str | None:
        """Return the path of one's own file from which this host configured the car, or None.

        The file may have changed since, or be gone. Raises errors.DataFileFault.
        """
        return self._origins.of(identity)

    def remember(self, vehicle: Vehicle, board_id: bytes, car_name: str) -> None:
        """Keep which file a car is configured from, if it is not one of ``names``.

        Raises errors.DataFileFault.
        """
        word = vehicle_word(vehicle)
        if word != vehicle.name:
            self._origins.keep(board_id, config_hash(vehicle, board_id, car_name), word)

    def cars_named(self, name: str) -> tuple[KnownCar, ...]:
        """Return the cars that this host keeps by a name. Raises errors.DataFileFault."""
        return self._pairings.named(name)

    def expected_hash(self, vehicle: Vehicle, identity: CarIdentity) -> bytes:
        """Return the configuration hash that this very car should report if it is of this type.

        If the car reports the hash of a variant (trimmed here, or with a slow board's control
        period) it is that one; else the file's.
        """
        for variant in self._variants(vehicle, identity):
            expected = config_hash(variant, identity.board_id, identity.car_name)
            if expected == identity.config_hash:
                return expected
        return config_hash(vehicle, identity.board_id, identity.car_name)

    def _variants(self, vehicle: Vehicle, identity: CarIdentity) -> Iterator[Vehicle]:
        """Yield the variants, the likeliest first; the last ones need files to be read."""
        yield vehicle
        known = self._pairings.of(identity)
        if known:
            yield known.of(vehicle)
        yield from on_known_boards(vehicle)
