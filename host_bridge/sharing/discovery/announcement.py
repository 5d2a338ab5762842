"""The announcement of a served car by DNS-SD: its text records, written and read.

It fills lists and is never a permission. Anybody on a network can announce anything, so what
comes in is judged as text of a stranger.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

SERVICE = "_tandem._udp.local."
_VERSION = b"1"
_HEX_BYTES = {"board_id": 8, "protocol": 4, "fleet": 4}
# A name goes into a URI, and both into a person's list
_NAME = re.compile(r"[A-Za-z0-9_.-]{1,32}")
_KEYS = {"name": b"name", "board_id": b"id", "protocol": b"hash", "vehicle": b"vehicle",
         "fleet": b"fleet"}  # fmt: skip


@dataclass(frozen=True)
class Announcement:
    """A car as its host announces it: no person, no token and no state. Hexadecimal in lower case.

    ``fleet`` is the tag of its fleet, not its name.
    """

    name: str
    board_id: str
    protocol: str
    vehicle: str
    fleet: str

    @property
    def instance(self) -> str:
        """The name of its service, one for each board."""
        return f"{self.name} {self.board_id}.{SERVICE}"

    def records(self) -> dict[bytes, bytes]:
        """Return its text records."""
        values = {key: getattr(self, name).encode() for name, key in _KEYS.items()}
        return {b"v": _VERSION, **values}


def announcement_of(
    name: str, board_id: str, protocol: bytes, vehicle: str, tag: int
) -> Announcement:
    """Return the announcement of a car; of a vehicle that is a path, only the file's own name."""
    # Bytes, as the protocol says a tag
    fleet = tag.to_bytes(4, "big").hex()
    type_name = vehicle.rpartition("/")[2].removesuffix(".toml")
    return Announcement(name, board_id, protocol.hex(), type_name, fleet)


def parse_records(records: Mapping[bytes, bytes | None]) -> Announcement | None:
    """Return what text records announce; None if they are not those of a car."""
    if records.get(b"v") != _VERSION:
        return None
    values = {name: _text(records.get(key)) for name, key in _KEYS.items()}
    for name, size in _HEX_BYTES.items():
        if not re.fullmatch(rf"[0-9a-f]{{{2 * size}}}", values[name]):
            return None
    if not _NAME.fullmatch(values["name"]) or not _NAME.fullmatch(values["vehicle"] or "-"):
        return None
    return Announcement(**values)


def _text(value: bytes | None) -> str:
    return (value or b"").decode("utf-8", "replace")
