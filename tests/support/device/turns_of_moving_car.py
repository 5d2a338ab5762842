"""Turns of the endless loop while the car may move, in a heap without a free block: whatever takes
one ends in a MemoryError. Prints how many steps there were.

    micropython turns_of_moving_car.py TURNS

The loop, what is between steps, and the link over a UART are the program's; the step itself, which
has its own proof (heap_locked.py), only takes what has come and says something.
"""

import gc
import sys

from firmware.boards.between_steps import BetweenSteps
from firmware.boards.link import UartLink
from firmware.boards.start import Beat

TURNS = int(sys.argv[1])
_BEAT_US = 20_000
_TURN_US = 3_000


class Uart:
    """Always has a frame's worth to say, and takes all."""

    def any(self):
        return 20

    def readinto(self, block, size):
        return size

    def write(self, view):
        return len(view)


class OverrunMonitor:
    beat_us = _BEAT_US


class OutputStage:
    is_enabled = True


class App:
    """A car that is armed."""

    overruns = OverrunMonitor()
    output_stage = OutputStage()

    def __init__(self, link):
        self.steps = 0
        self._link = link
        self._block = bytearray(64)

    def step(self, now_us):
        self.steps += 1
        self._link.receive_into(self._block)
        self._link.transmit(self._block, 60)


class Board:
    ran_us = step_us = 0

    def __init__(self):
        self.link = UartLink(Uart())
        self.between_steps = BetweenSteps(self.link, None)


class Watchdog:
    def feed(self):
        pass


class Clock:
    now_us = 0

    def ticks_us(self):
        self.now_us += _TURN_US
        return self.now_us


def fill(chain):
    """Take every block that is free, of any size, the big ones first."""
    size = 1 << 16
    while size:
        try:
            chain = (chain, bytearray(size))
        except MemoryError:
            size //= 2
    try:
        while True:
            chain = (chain,)
    except MemoryError:
        return chain


def drive(beat):
    i = 0
    while i < TURNS:
        beat.turn()
        i += 1


board = Board()
app = App(board.link)
beat = Beat(board, app, Clock().ticks_us, Watchdog())
beat.turn()  # what is looked up for the first time
gc.threshold(-1)
full = fill(None)
drive(beat)
del full
print(app.steps)
