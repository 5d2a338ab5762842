"""The pairings: what this host keeps of each car, with its board, name, key and trim.

One file per board, for this user only, in $TANDEM_DATA_DIR or the user's data folder. A car's
parameters are its vehicle file's and its trim's; without the trim its configuration is unknown
here.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from host_bridge.core import CarIdentity, KnownCar, Vehicle
from host_bridge.core.errors import DataFileFault
from host_bridge.core.files import misread_text, read_json
from host_bridge.core.system.atomic_file import write_atomically
from host_bridge.core.system.users_folder import users_folder

_KEY_BYTES = 32  # of 8 bits: nobody guesses 256


@dataclass(frozen=True)
class Pairing:
    """The data that this host keeps of one car.

    ``trim``: parameters of the car's program that differ from the vehicle file's, by name.
    ``flashed``: what this host last put onto the board: board, runtime, slot, program.
    """

    board_id: str  # hexadecimal
    car_name: str
    vehicle: str
    key: str = field(repr=False)  # hexadecimal
    trim: Mapping[str, list[int]] = field(default_factory=dict)
    flashed: Mapping[str, str] = field(default_factory=dict)

    def of(self, vehicle: Vehicle) -> Vehicle:
        """Return this vehicle with this car's trim, if the car is of this type."""
        if vehicle.name != self.vehicle or not self.trim:
            return vehicle
        parameters = {**vehicle.parameters, **self.trim}
        return replace(vehicle, parameters=parameters, step_s=parameters["step_us"][0] / 1e6)

    def __str__(self) -> str:
        return f"{self.car_name}, a {self.vehicle}, key {self.key[:8]}..."

    @classmethod
    def new(cls, identity: CarIdentity, car_name: str, vehicle: str) -> Pairing:
        """Return a pairing with a car under a new key."""
        return cls(identity.board_id.hex(), car_name, vehicle, secrets.token_hex(_KEY_BYTES))

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> Pairing:
        """Return the pairing in a file's row.

        Raises KeyError, TypeError or ValueError for anything else.
        """
        trim = {str(name): [int(value) for value in values] for name, values in row["trim"].items()}
        board_id = bytes.fromhex(row["board_id"]).hex()
        key = bytes.fromhex(row["key"]).hex()
        flashed = {str(name): str(value) for name, value in row["flashed"].items()}
        return cls(board_id, str(row["car_name"]), str(row["vehicle"]), key, trim, flashed)


class Pairings:
    """The pairings by board, in ``folder`` or in this user's own."""

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder

    def of(self, identity: CarIdentity) -> Pairing | None:
        """Return a car's pairing; None for a car that this host does not know.

        Raises errors.DataFileFault.
        """
        return self._read(self._path(identity.board_id.hex()))

    def _read(self, path: Path) -> Pairing | None:
        if not path.exists():
            return None
        try:
            return Pairing.from_row(read_json(path).values)
        except (DataFileFault, OSError, ValueError, TypeError, KeyError, AttributeError) as error:
            raise DataFileFault(
                "what is kept of this car cannot be read",
                where=str(path),
                got=misread_text(error).replace("\n", ";"),
                remedy="tandem restore it from a backup, or delete the file and flash the car "
                "again",
            ) from None

    def named(self, car_name: str) -> tuple[KnownCar, ...]:
        """Return the cars that are kept by this name: several boards may have had it over time.

        Raises errors.DataFileFault.
        """
        folder = self._folder or users_folder("cars")
        kept = [self._read(path) for path in sorted(folder.glob("*.json"))]
        return tuple(
            KnownCar(bytes.fromhex(it.board_id), car_name, it.vehicle)
            for it in kept
            if it and it.car_name == car_name
        )

    def keep(self, pairing: Pairing, *, is_on_car: bool = False) -> Path:
        """Write the pairing, atomically, in place of an earlier one of this board.

        ``is_on_car``: the car has what is kept already, which a failure tells. Raises
        errors.DataFileFault if it cannot be written.
        """
        path = self._path(pairing.board_id)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(path, json.dumps(asdict(pairing), indent=2))
        except OSError as error:
            state = "the car has the new values" if is_on_car else "the car is as it was"
            raise DataFileFault(
                f"what is kept of this car cannot be written; {state}",
                where=str(path),
                expected="a folder that this user may write to",
                got=error.strerror or str(error),
                remedy="make it writable, or set TANDEM_DATA_DIR to a folder that is",
            ) from None
        return path

    def _path(self, board_id: str) -> Path:
        return (self._folder or users_folder("cars")) / f"{board_id}.json"
