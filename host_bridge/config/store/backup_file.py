"""The file of ``tandem backup``: a car's parameters and pairing, with a hash of all of it."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from host_bridge.core.errors import DataFileFault
from host_bridge.core.files import read_json
from host_bridge.core.system.atomic_file import write_atomically

KIND = "tandem backup 1"


def read_backup(path: Path) -> dict[str, Any]:
    """Return what the file holds. Raises errors.DataFileFault if it is no whole backup."""
    row = read_json(path).values
    try:
        is_whole = row.pop("what") == KIND and row.pop("sha256") == content_hash(
            {"what": KIND, **row}
        )
    except (ValueError, AttributeError, KeyError, TypeError):
        raise _not_a_backup(path, "something else") from None
    if not is_whole:
        raise _not_a_backup(path, "a hash that does not match the content")
    found: dict[str, Any] = row
    return found


def content_hash(row: dict[str, Any]) -> str:
    """Return the hash that the file carries of everything else in it."""
    return hashlib.sha256(json.dumps(row, sort_keys=True).encode()).hexdigest()


def write_backup(path: Path, row: dict[str, Any]) -> None:
    """Write the file, with its hash. Raises errors.DataFileFault."""
    row = {**row, "sha256": content_hash(row)}
    try:
        write_atomically(path, json.dumps(row, indent=1))
    except OSError as error:
        raise DataFileFault("cannot write the backup", where=str(path), got=str(error)) from None


def _not_a_backup(path: Path, got: str) -> DataFileFault:
    return DataFileFault(
        "this is not a whole backup",
        where=str(path),
        expected="what tandem backup wrote, unchanged",
        got=got,
    )
