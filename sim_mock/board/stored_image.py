"""The configuration that a new virtual board has stored, and the id of such a board."""

import zlib
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from firmware.core.settings.checked_params import CheckedParams
from firmware.protocol.frame import crc_table


class VehicleSpec(Protocol):
    """The properties of a parsed vehicle file that the world needs."""

    @property
    def name(self) -> str: ...
    @property
    def plant(self) -> Mapping[str, Any]: ...
    @property
    def channels(self) -> Sequence[Mapping[str, Any]]: ...
    @property
    def parameters(self) -> Mapping[str, Sequence[int]]: ...


def board_id_of(board: str) -> bytes:
    """Return the id, 8 bytes, of the virtual board of this name."""
    low = zlib.crc32(board.encode())
    return low.to_bytes(4, "little") + zlib.crc32(board.encode(), low).to_bytes(4, "little")


def stored_image(vehicle: VehicleSpec, board_id: bytes, car_name: str) -> bytes:
    """Return the configuration as a virtual car's new board has it stored.

    ``board_id``: 8 bytes. A ``car_name`` that is too long is cut.
    """
    params = CheckedParams(crc_table())
    for name, values in vehicle.parameters.items():
        at = params.index(name)
        params.values[at : at + len(values)] = values
    at = params.index("board_id")
    for i in range(4):
        params.values[at + i] = board_id[2 * i] | board_id[2 * i + 1] << 8
    name_bytes = car_name.encode()[: len(params.car_name)]
    params.car_name[: len(name_bytes)] = name_bytes
    image = bytearray(params.image_size())
    params.write_image(image)
    return bytes(image)
