"""The guard's share of the processor: turns of an empty loop with it and without.

Sent by ``../on_chip.py`` after FOLDER. Without: before the board is made. With: on the car's own
board while its program is in STANDBY, and while its outputs are renewed, neutral and enabled, as
while it drives. Prints JSON.
"""
# ruff: noqa: F821 - the host writes the name before this

import gc
import json
import sys
import time

import machine

gc.threshold(8000)  # as firmware/boards/start.py: garbage is collected before the heap is in pieces
sys.path.insert(0, FOLDER)

import pins

for pin, level in pins.SAFE_LEVELS:
    machine.Pin(pin, machine.Pin.OUT, value=level)

from main import Starts

from firmware.app import App
from firmware.boards import start
from firmware.boards.store import Store

ticks_us, ticks_diff = time.ticks_us, time.ticks_diff
FOR_US = 1_000_000  # a second: a share is known to a thousandth
BEAT_US = 10_000  # the usual control period
MASK = (1 << 30) - 1


def turns(for_us):
    count = 0
    begun_us = ticks_us()
    while ticks_diff(ticks_us(), begun_us) < for_us:
        count += 1
    return count


def turns_beside(work):
    """Count turns in half of each period, after the work was done."""
    total = 0
    for _ in range(FOR_US // BEAT_US):
        work()
        total += turns(BEAT_US // 2)
    return total * 2


if pins.CLOCK_HZ:
    from firmware.boards.ports.rp2040_clock import hasten

    hasten(pins.CLOCK_HZ)
without = turns_beside(lambda: None)
starts = Starts()
link = start.make_link(pins)
store = Store(("%s/config_a.bin" % FOLDER, "%s/config_b.bin" % FOLDER))
board = start.make_board(pins, starts, link, store, ticks_us)
app = App(board)
app.step(ticks_us() & MASK)
standing = turns_beside(lambda: app.step(ticks_us() & MASK))
values = app.output_stage.values


def renew():
    board.read(ticks_us() & MASK)
    board.write(values, True, 0)


enabled = turns_beside(renew)
tripped = board.guard_tripped
board.write(values, False, 0)
link.close()
found = {"without": without, "standing": standing, "enabled": enabled, "tripped": tripped}
print("@@@")
print(json.dumps(found))
