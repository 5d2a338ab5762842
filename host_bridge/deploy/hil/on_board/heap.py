"""Starts the car's program beside a block of BALLAST bytes of heap, and reports whether it came up.

Sent by ``../on_chip.py`` to a board at its raw REPL, after FOLDER, the slot whose program runs,
MODE and BALLAST. The block is taken before the program is read, so that temporary needs and
fragmentation count too. MODE:

car: until the car's first step would come. hitl: then to the first step of hardware in the loop,
the car made once more on a plant.

Printed as JSON: ``total``, the heap of this MicroPython on this board, in bytes; ``ballast``;
``is_up``; ``free``, what is left beside the ballast then; ``error``, why it did not come up.
"""
# ruff: noqa: F821 - the host writes the names before this

import gc
import json
import sys

import machine
import micropython

gc.collect()
total = gc.mem_alloc() + gc.mem_free()
ballast = bytearray(BALLAST)


class Up(Exception):
    """Raised to leave the program once it is up."""


class HeapProbe:
    """Replaces the beat: the first one made after the car's own ends the program."""

    def __init__(self, board, app, ticks_us, watchdog):
        raise Up


def come_up():
    micropython.kbd_intr(-1)  # a frame may hold 0x03
    sys.path.insert(0, FOLDER)
    import pins

    for pin, level in pins.SAFE_LEVELS:
        machine.Pin(pin, machine.Pin.OUT, value=level)
    from main import Starts

    from firmware.boards import start as starting

    program = starting.start(pins, Starts())
    if MODE == "hitl":
        starting.Beat = HeapProbe
        program.hitl_entry.is_asked = True
        try:
            program.run()
        except Up:
            pass
    gc.collect()
    return gc.mem_free()


free, error = 0, ""
try:
    free = come_up()
except MemoryError as caught:
    error = str(caught)
ballast = b""  # room for the answer
gc.collect()
machine.WDT(timeout=8000)  # the program's own would not wait for what follows
micropython.kbd_intr(3)
print("@@@")
json.dump(
    {"total": total, "ballast": BALLAST, "is_up": not error, "free": free, "error": error},
    sys.stdout,
)
