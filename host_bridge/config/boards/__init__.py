"""Board files: read strictly, checked against a vehicle, and turned into the car's pin module."""

from host_bridge.config.boards.beat import on_board, on_known_boards
from host_bridge.config.boards.facts import BoardType
from host_bridge.config.boards.pins.checking import check, check_all
from host_bridge.config.boards.pins.pin_module import pin_module
from host_bridge.config.boards.reading import board_names, board_path, load_board, other_wirings
from host_bridge.config.boards.tables import minor_of

__all__ = [
    "BoardType",
    "board_names",
    "board_path",
    "check",
    "check_all",
    "load_board",
    "minor_of",
    "on_board",
    "on_known_boards",
    "other_wirings",
    "pin_module",
]
