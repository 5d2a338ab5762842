"""Starts the car on the board it finds itself on, and keeps its beat for ever.

``main.py unix IMAGE BOARD_ID SEED``: the process car, one beat for each packet on standard input.
"""

import sys

from firmware.app import App
from firmware.boards.unix import UnixBoard


def drive(board: UnixBoard) -> None:
    app = App(board)
    while board.wait():
        app.step(board.now_us)
        board.answer()


def board_from(arguments: "list[str]") -> UnixBoard:
    if len(arguments) != 4 or arguments[0] != "unix":
        sys.stderr.write("expected: main.py unix IMAGE BOARD_ID_HEX SEED\n")
        sys.exit(2)
    _, image_path, board_id, seed = arguments
    return UnixBoard(bytes.fromhex(board_id), image_path, int(seed))


if __name__ == "__main__":
    drive(board_from(sys.argv[1:]))
