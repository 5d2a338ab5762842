"""The origins: from which vehicle file of one's own this host configured a car.

One file per board, beside the pairings: configuration hashes, and the path of the file of each.
Types that Tandem or an installed package brings along are found by name and need no origin.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from host_bridge.core import CarIdentity
from host_bridge.core.errors import DataFileFault
from host_bridge.core.files import read_json
from host_bridge.core.system.atomic_file import write_atomically
from host_bridge.core.system.users_folder import users_folder

_KEPT = 16  # configurations of a board: more than are tried in a day, and a small file


class Origins:
    """The paths of vehicle files by board and configuration hash, in ``folder`` or the user's."""

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder

    def of(self, identity: CarIdentity) -> str | None:
        """Return the absolute path of the file from which the car was configured, if it is kept.

        Raises errors.DataFileFault.
        """
        return self._read(identity.board_id).get(identity.config_hash.hex())

    def keep(self, board_id: bytes, config_hash: bytes, path: str) -> None:
        """Keep the path of a configuration's file. Raises errors.DataFileFault."""
        earlier = self._read(board_id)
        earlier.pop(config_hash.hex(), None)  # the newest is the last one
        kept = {**earlier, config_hash.hex(): path}
        file = self._path(board_id)
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(file, json.dumps(dict(list(kept.items())[-_KEPT:]), indent=2))
        except OSError as error:
            raise DataFileFault(
                "which vehicle file the car has cannot be kept; the car is as it was",
                where=str(file),
                expected="a folder that this user may write to",
                got=error.strerror or str(error),
                remedy="make it writable, or set TANDEM_DATA_DIR to a folder that is",
            ) from None

    def _read(self, board_id: bytes) -> dict[str, str]:
        file = self._path(board_id)
        if not file.exists():
            return {}
        rows: Any = read_json(file).values
        if not isinstance(rows, dict) or not all(isinstance(path, str) for path in rows.values()):
            raise DataFileFault(
                "what is kept of this car's vehicle file cannot be read",
                where=str(file),
                expected="paths by configuration hash",
                remedy="delete the file, and name the vehicle file with --vehicle",
            )
        return dict(rows)

    def _path(self, board_id: bytes) -> Path:
        return (self._folder or users_folder("vehicle_files")) / f"{board_id.hex()}.json"
