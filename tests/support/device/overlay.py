"""What writes a configuration comes and goes under MicroPython, in steps whose heap is locked.

A line for each thing that was done: what the car answered (a result of codes.PARAMETER_), whether
the modules are in memory after it, and how many bytes are in use. Runs under MicroPython only.
"""

import gc
import sys

import micropython

from firmware.app import App
from firmware.boards.simulated.virtual import VirtualBoard
from firmware.protocol import messages
from firmware.protocol.codec import encode_into
from firmware.protocol.frame import FrameWriter, crc_table

MODULES = (
    "firmware.core.settings.params",
    "firmware.core.settings.checked_params",
    "firmware.core.settings.writing",
)
ANSWERS = (messages.Parameter, messages.Committed)
US, BEAT_US = 1001, 10_000


class Board(VirtualBoard):
    """Its steps are locked, as those of a board of metal."""

    def open_heap(self):
        micropython.heap_unlock()

    def close_heap(self):
        micropython.heap_lock()


class Car:
    def __init__(self):
        self.board = Board(bytes(8), b"", 1)
        self.app = App(self.board)
        self.app.sessions.bind(US, 0)
        self.app.outbox.send = self.keep
        self.writer = FrameWriter(crc_table())
        self.now_us = 0
        self.answer = -1
        self.is_arming = False

    def keep(self, message):
        if isinstance(message, ANSWERS):
            self.answer = message.result
        return True

    def step(self, message=None):
        self.answer, board = -1, self.board
        board.received_size = 0
        if message:
            board.received_size = size = self.writer.wrap(encode_into(message, self.writer.payload))
            board.received[:size] = self.writer.out[:size]
        self.app.sessions.slots[0].heard_us = self.now_us
        micropython.heap_lock()
        self.app.step(self.now_us)
        if self.is_arming:  # of a granted arm, what lets go
            self.app.overlay.let_go()
        micropython.heap_unlock()
        self.now_us += BEAT_US

    def tell(self, what):
        for _ in range(3):  # what a stale place of the stack held is written over
            self.step()
            gc.collect()
        print(what, self.said, sum([name in sys.modules for name in MODULES]), gc.mem_alloc())

    def do(self, what, message):
        self.step(message)
        self.said = self.answer
        self.tell(what)


def write(index, value):
    made = messages.ParameterWrite()
    made.epoch, made.index, made.value = US, index, value
    return made


def commit(config_hash, car_name):
    made = messages.ConfigCommit()
    made.epoch = US
    made.config_hash[:], made.car_name[:] = config_hash, car_name
    return made


def ballast():
    """All that there is: what is left has no room for a module."""
    found = []
    size = gc.mem_free()
    while size >= 64:
        try:
            found.append(bytearray(size))
        except MemoryError:
            size //= 2
    return found


def hash_held():
    """What it holds, for nothing was committed yet; a frame of its own keeps nothing alive."""
    wanted = bytearray(4)
    car.app.overlay.writing.params.hash_into(wanted)
    return wanted


car = Car()
car.said = -1
for _ in range(200):
    car.step()
car.tell("started")
name = bytes(car.app.configuration.car_name)
car.do("written", write(5, 999))
car.is_arming = True
car.step()
car.is_arming = False
car.tell("let go with a draft")
car.do("committed in vain", commit(b"none", name))
kept = ballast()
car.step(write(5, 999))
car.said = car.answer
kept = None
car.tell("without room")
car.do("with room", write(5, 1_000))  # as it was
car.do("committed", commit(hash_held(), name))
