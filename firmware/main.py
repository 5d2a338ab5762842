"""Entry point of the process car under MicroPython's unix port: one step for each input packet.

``main.py unix IMAGE BOARD_ID SEED`` runs a car, which takes its packets from standard input.
``unix-box`` in place of ``unix`` runs a runstop box.
"""

import sys

from firmware.app import App
from firmware.boards.simulated.unix import UnixBoard
from firmware.box import Box

_PROGRAMS = (("unix", App), ("unix-box", Box))


def made(arguments: "list[str]") -> "tuple[App | Box, UnixBoard]":
    """Return the program and board that the command line names; exit with 2 if it names none."""
    for name, program in _PROGRAMS:
        if len(arguments) == 4 and arguments[0] == name:
            _, image_path, board_id, seed = arguments
            board = UnixBoard(bytes.fromhex(board_id), image_path, int(seed))
            return program(board), board
    sys.stderr.write("expected: main.py unix|unix-box IMAGE BOARD_ID_HEX SEED\n")
    sys.exit(2)


def run(program: "App | Box", board: UnixBoard) -> None:
    while board.wait():
        program.step(board.now_us)
        board.answer()


if __name__ == "__main__":
    run(*made(sys.argv[1:]))
