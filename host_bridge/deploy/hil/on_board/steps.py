"""The car's own program with a clock around its step: step times in STANDBY and driving.

Sent by ``../on_chip.py`` to a board at its raw REPL, after FOLDER, the slot whose program runs,
and MODE. The program starts as from its launcher; a host then drives it over its link, and ends it
by sixteen times 0x03. Then the findings are printed as JSON. MODE:

steps: the steps' times, and the control periods missed.
stops: the same, and how long a Stop takes. Whenever the car has driven for a while, a timer that
       is independent of the step puts a Stop frame where the link finds it when it next reads its
       line. The time runs until the board's ``write`` with the stopped outputs has returned.
link: the same as steps, while after each step the link has to send as many zeros as it takes,
      unless a frame came.

For chips in STACKS it also prints how deep the C stack was used, interrupts included: the free part
of the stack is filled with a pattern before, and searched for it afterwards.
"""
# ruff: noqa: F821 - the host writes the names before this

import gc
import json
import sys
import time

import machine
import micropython

micropython.kbd_intr(-1)  # a frame may hold 0x03
gc.threshold(8000)  # as firmware/boards/start.py: garbage is collected before the heap is in pieces
sys.path.insert(0, FOLDER)

import pins

for pin, level in pins.SAFE_LEVELS:
    machine.Pin(pin, machine.Pin.OUT, value=level)

from main import Starts

from firmware.app import App
from firmware.compat import array
from firmware.protocol.codec import encode_into
from firmware.protocol.frame import FrameWriter, crc_table
from firmware.protocol.messages import Stop

BIN_US, BINS = 100, 200  # to 20 ms; the last one holds what is longer
# States, as firmware/protocol/codes.py numbers them
STANDBY, ACTIVE, HOLD, STOPPING = 1, 2, 3, 4
MASK = (1 << 30) - 1
DRIVEN = 60  # steps before the next Stop
STOPS = 200  # so many that the slowest of a hundred shows
STACKS = (("RP2040", 0x2004_0000), ("RP2350", 0x2008_0000))  # their lower ends, by MicroPython
STACK_SIZE, SPARED = 8192, 512  # bytes: of the C stack, and what is not written over below its top
FILLED = 0x15A5_A5A5  # a pattern that no pointer and no small number has
TIMER_HZ = 97  # beside a step of 10 or 20 ms it comes at another phase each time

ticks_us, ticks_diff = time.ticks_us, time.ticks_diff
step_of_the_car = App.step


class Found:
    """The steps in one state of the car, with so many messages received."""

    def __init__(self, kind, heard):
        self.kind, self.heard = kind, heard
        self.bins = array("H", [0] * BINS)
        self.steps = self.longest_us = self.spent_us = 0

    def add(self, took_us):
        """Allocates nothing: the heap is locked."""
        at = took_us // BIN_US
        self.bins[at if at < BINS else BINS - 1] += 1
        self.steps += 1
        self.spent_us += took_us
        if took_us > self.longest_us:
            self.longest_us = took_us

    def plain(self):
        return {
            "kind": self.kind, "heard": self.heard, "steps": self.steps,
            "longest_us": self.longest_us, "spent_us": self.spent_us,
            "bins": [(i * BIN_US, n) for i, n in enumerate(self.bins) if n],
        }  # fmt: skip


class Beats:
    """The times at which a driving car's steps began, to count those missed."""

    def __init__(self):
        self.last_us = -1
        self.steps = self.time_us = 0

    def add(self, now_us, drives):
        if drives and self.last_us >= 0:
            self.steps += 1
            self.time_us += (now_us - self.last_us) & MASK
        self.last_us = now_us if drives else -1


class Trial:
    """A Stop that is to arrive (1), has arrived (2), is in the program's hands (3)."""

    def __init__(self):
        writer = FrameWriter(crc_table())
        self.size = writer.wrap(encode_into(Stop(), writer.payload))
        self.frame = writer.out
        self.phase = self.driven = self.count = self.arrived_us = 0
        self.took_us = array("H", [0] * STOPS)

    def on_timer(self, timer):
        if self.phase == 1:
            self.arrived_us = ticks_us()
            self.phase = 2

    def before(self, state):
        self.driven = self.driven + 1 if state == ACTIVE else 0
        if self.driven == DRIVEN and self.count < STOPS:
            self.phase = 1

    def out(self):
        self.took_us[self.count] = min(ticks_diff(ticks_us(), self.arrived_us), 65535)
        self.count += 1
        self.phase = 0


class Line:
    """Bytes each way: in while something comes, out while nothing does."""

    def __init__(self):
        self.came = self.went = self.in_us = self.out_us = 0
        self.now = 0  # came in this step
        self.last_us = -1
        self.pad = bytearray(64)  # bytes: the longest frame

    def fill(self, board, now_us):
        since_us = (now_us - self.last_us) & MASK if self.last_us >= 0 else 0
        self.last_us = now_us
        if self.now:
            self.came += self.now
            self.in_us += since_us
        else:
            self.out_us += since_us
            while board.transmit(self.pad, 64):  # bytes, see above
                self.went += 64  # bytes, see above
        self.now = 0


KINDS = (("standing", 3), ("driving", 11), ("stopped", 3))  # the last: so many heard and more
rows = [[Found(kind, heard) for heard in range(most)] for kind, most in KINDS]
beats, trial, line = Beats(), Trial(), Line()


def step(app, now_us):
    state = app.supervisor.state
    drives = state == ACTIVE
    if MODE == "stops":
        trial.before(state)
    reader = app.receiver.reader
    good = reader.good
    begun_us = ticks_us()
    step_of_the_car(app, now_us)
    took_us = ticks_diff(ticks_us(), begun_us)
    if state != HOLD:
        row = rows[1 if drives else 0 if state == STANDBY else 2]
        row[min(reader.good - good, len(row) - 1)].add(took_us)
    beats.add(now_us, drives)
    if MODE == "link":
        line.fill(app.board, now_us)


def listen(board):
    """Wrap the interface between the board and its program."""
    receive_into, write, link = board.receive_into, board.write, board.link
    listen = link.listen

    def listening():
        listen()
        if trial.phase == 2:
            trial.phase = 3
            link.take(trial.frame, trial.size)

    def receiving(buffer):
        size = receive_into(buffer)
        line.now += size
        return size

    def writing(values, enable, lights):
        write(values, enable, lights)
        if trial.phase == 3:
            trial.out()

    board.receive_into, board.write, link.listen = receiving, writing, listening


def stack_bottom():
    for name, bottom in STACKS:
        if name in sys.implementation._machine:
            return bottom
    return 0


def fill_stack(bottom):
    for at in range(bottom, bottom + STACK_SIZE - micropython.stack_use() - SPARED, 4):
        machine.mem32[at] = FILLED


def deepest(bottom):
    """Return how many bytes of the C stack were used; 0 if it was not filled."""
    at = bottom
    while at and machine.mem32[at] == FILLED:
        at += 4
    return bottom + STACK_SIZE - at if at else 0


def run():
    App.step = step
    from firmware.boards import start as starting

    made = starting.make_app

    def make_app(board):
        if MODE != "steps":
            listen(board)
        return made(board)

    starting.make_app = make_app
    timer = None
    if MODE == "stops":
        timer = machine.Timer(-1, freq=TIMER_HZ, callback=trial.on_timer, hard=True)
    try:
        starting.start(pins, Starts()).run()
    except KeyboardInterrupt:  # on a REPL that is not the link
        pass
    micropython.kbd_intr(3)
    machine.WDT(timeout=8000)  # the program's own would not wait for what follows
    if timer:
        timer.deinit()


bottom = stack_bottom()
if bottom:
    fill_stack(bottom)
run()
free = gc.mem_free()
gc.collect()
print("@@@")
json.dump(  # piece by piece: the heap has no room for the whole text
    {
        "mode": MODE, "mhz": machine.freq() // 1000000, "free": (free, gc.mem_free()),
        "rows": [found.plain() for kind in rows for found in kind if found.steps],
        "beats": (beats.steps, beats.time_us), "stops_us": list(trial.took_us)[: trial.count],
        "stack": deepest(bottom), "line": (line.came, line.in_us, line.went, line.out_us),
    },
    sys.stdout,
)  # fmt: skip
