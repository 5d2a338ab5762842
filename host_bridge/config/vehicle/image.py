"""The configuration image that a board stores: parameters, the board's id, the car's name."""

from __future__ import annotations

import zlib
from array import array
from collections.abc import Sequence

from firmware.core.settings.checked_params import CheckedParams
from firmware.core.settings.params import NAME_SIZE, TABLE, Params
from host_bridge.core import Vehicle

BOARD_ID_SIZE = 8  # bytes, as the car's program has it (firmware/core/settings/params.py: board_id)


def image_of(vehicle: Vehicle, board_id: bytes, car_name: str) -> bytes:
    """Return the very image that the board with this id (8 bytes) builds of these parameters.

    Raises ValueError if the id or the name (16 bytes of UTF-8 at most) has the wrong size, or a
    parameter is one that the board would refuse.
    """
    params = _params_of(vehicle, board_id, car_name)
    image = bytearray(params.image_size())
    size = params.write_image(image)
    return bytes(image[:size])


def config_hash(vehicle: Vehicle, board_id: bytes, car_name: str) -> bytes:
    """Return the configuration hash (4 bytes) that this board then reports."""
    params = _params_of(vehicle, board_id, car_name)
    params.hash_into(params.config_hash)
    return bytes(params.config_hash)


def values_hash(values: Sequence[int], car_name: str) -> bytes:
    """Return the hash (4 bytes) that a board reports which holds these values, in table order."""
    params = CheckedParams(_crc_table())
    params.values[:] = values
    name = car_name.encode()
    params.car_name[: len(name)] = name
    params.hash_into(params.config_hash)
    return bytes(params.config_hash)


def own_table_hash() -> bytes:
    """Return the hash of the parameter table that this host was built with, 4 bytes."""
    return bytes(CheckedParams(_crc_table()).table_hash)


def by_name(values: Sequence[int]) -> dict[str, list[int]]:
    """Return values in table order as a dict by name, like a vehicle's ``parameters``."""
    found, at = {}, 0
    for name, _, many, *_ in TABLE:
        found[name] = list(values[at : at + many])
        at += many
    return found


def _params_of(vehicle: Vehicle, board_id: bytes, car_name: str) -> CheckedParams:
    name = car_name.encode()
    if len(board_id) != BOARD_ID_SIZE or len(name) > NAME_SIZE:
        raise ValueError(
            f"a board id has {BOARD_ID_SIZE} bytes and a car's name {NAME_SIZE} at most, "
            f"got {len(board_id)} and {len(name)} ({car_name!r})"
        )
    params = CheckedParams(_crc_table())
    words = [board_id[i] | board_id[i + 1] << 8 for i in range(0, BOARD_ID_SIZE, 2)]
    for key, values in {**vehicle.parameters, "board_id": words}.items():
        at = params.index(key)
        params.values[at : at + len(values)] = values
    params.car_name[: len(name)] = name
    _refuse_wrong(params)
    return params


def _refuse_wrong(params: CheckedParams) -> None:
    wrong = params.first_wrong()
    if wrong >= 0:
        raise ValueError(
            f"the board would refuse parameter {parameter_name(wrong)} = {params.values[wrong]}"
        )


def parameter_count() -> int:
    """Return the number of values in the image."""
    return sum(row[2] for row in TABLE)


def parameter_index(name: str) -> int:
    """Return the index of a parameter in the image, of its first value if it has several."""
    return Params().index(name)


def parameter_limits(index: int) -> tuple[str, int, int]:
    """Return a parameter's unit, lowest and highest value that a board takes. Raises IndexError."""
    at = 0
    for _, unit, many, low, high, _ in TABLE:
        at += many
        if index < at:
            return unit, low, high
    raise IndexError(index)


def parameter_name(index: int) -> str:
    """Return the name of the parameter at an index, with a number if it has several values."""
    at = index
    for name, _, many, *_ in TABLE:
        if at < many:
            return name if many == 1 else f"{name}[{at}]"
        at -= many
    raise ValueError(f"there is no parameter {index}")


def _crc_table() -> array[int]:
    """Return the CRC's 256 steps as (low, high) halves, like the table in the board's program."""
    # CRC-32 of one byte b is step(b ^ 0xFF) ^ 0xFF000000
    steps = [zlib.crc32(bytes([byte ^ 0xFF])) ^ 0xFF000000 for byte in range(256)]
    return array("H", [half for step in steps for half in (step & 0xFFFF, step >> 16)])
