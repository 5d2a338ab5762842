"""The beat of a car by the board that it is on: some need a longer one than the vehicle file's."""

from __future__ import annotations

from collections.abc import Iterator

from host_bridge.config.boards.facts import Board
from host_bridge.config.boards.reading import board_names, load_board
from host_bridge.config.vehicle import load_vehicle
from host_bridge.domain import Vehicle


def on_board(vehicle: Vehicle, board: Board) -> Vehicle:
    """The vehicle as it is on this board, its beat no shorter than the board file's ``step_s``.

    Raises VehicleFileFault if the vehicle's file would not hold with that beat.
    """
    if board.step_s <= vehicle.step_s:
        return vehicle
    return load_vehicle(vehicle.path, {"timing.step_s": board.step_s})


def on_known_boards(vehicle: Vehicle) -> Iterator[Vehicle]:
    """The vehicle with each longer beat that one of Tandem's boards gives it."""
    beats_s = {load_board(name).step_s for name in board_names()}
    for step_s in sorted(beats_s):
        if step_s > vehicle.step_s:
            yield load_vehicle(vehicle.path, {"timing.step_s": step_s})
