"""The control period of a car on its board, which may need a longer one than the vehicle file's."""

from __future__ import annotations

from collections.abc import Iterator

from host_bridge.config.boards.facts import BoardType
from host_bridge.config.boards.pins.checking import load_needs
from host_bridge.config.boards.reading import board_names, load_board, read_wiring
from host_bridge.config.boards.step_time import holds, link_of
from host_bridge.config.vehicle.vehicle import load_vehicle
from host_bridge.core import Vehicle


def on_board(
    vehicle: Vehicle, board: BoardType, micropython: str = "", *, is_paired: bool = False
) -> Vehicle:
    """Return the vehicle with a control period no shorter than the board file's ``step_s``.

    Its own period stays if the steps of this car under this MicroPython release were measured and
    fit it. Raises VehicleFileFault if the vehicle's file is invalid with the longer period.
    """
    if board.step_s <= vehicle.step_s:
        return vehicle
    if micropython and _holds(vehicle, board, micropython, is_paired=is_paired):
        return vehicle
    return load_vehicle(vehicle.path, {"timing.step_s": board.step_s})


def _holds(vehicle: Vehicle, board: BoardType, micropython: str, *, is_paired: bool) -> bool:
    link = link_on(vehicle, board)
    if link is None:
        return False
    step_us = round(vehicle.step_s * 1e6)
    return holds(board, vehicle.name, link, step_us, micropython, is_paired=is_paired)


def link_on(vehicle: Vehicle, board: BoardType) -> str | None:
    """Return the car's link on this board, ``uart`` or ``usb``; None if it has no wiring there."""
    needs = load_needs(board, vehicle.path)
    wiring = read_wiring(board, needs.wiring, needs.channels)
    return link_of(wiring) if wiring else None


def on_known_boards(vehicle: Vehicle) -> Iterator[Vehicle]:
    """Yield the vehicle with each longer control period that one of Tandem's boards gives it."""
    beats_s = {load_board(name).step_s for name in board_names()}
    for step_s in sorted(beats_s):
        if step_s > vehicle.step_s:
            yield load_vehicle(vehicle.path, {"timing.step_s": step_s})
