"""firmware/main.py's loop with the heap locked around every step: an allocation ends the process.

Runs under MicroPython only. The pipe that stands for the peripherals is outside of the lock.
"""

import sys

import micropython

from firmware.app import App
from firmware.main import board_from


def drive(board) -> None:
    app = App(board)
    while board.wait():
        micropython.heap_lock()
        app.step(board.now_us)
        micropython.heap_unlock()
        board.answer()


drive(board_from(sys.argv[1:]))
