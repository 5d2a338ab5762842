"""firmware/main.py's loop with the heap locked around every step: an allocation ends the process.

Runs under MicroPython only. The pipe that stands for the peripherals is outside of the lock.
"""

import sys

import micropython

from firmware.main import made


def drive(program, board) -> None:
    while board.wait():
        micropython.heap_lock()
        program.step(board.now_us)
        micropython.heap_unlock()
        board.answer()


drive(*made(sys.argv[1:]))
