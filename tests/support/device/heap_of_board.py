"""Starts an RP2 board's program as a board does, in a heap of a given size, and prints the modules
that it loaded and the bytes of heap that it takes: launcher, pins, code, objects, buffers, drivers.

    micropython heap_of_board.py WHAT FREE

WHAT is ``car``, or ``hitl``: the car made once more, on a plant; with ``paired`` behind it, of a
car that has a runstop box of its own. FREE is how many bytes the heap
has when the launcher begins, all in one; 0 is as many as there are. MemoryError if they do not do.

On the virtual ``machine``, whose own modules are not counted; its pins and machines are, which on a
chip are smaller or take no heap. The folder that it runs in is a slot, as ``tandem flash`` fills
it, with the launcher beside it.
"""

import gc
import sys

import machine  # noqa: F401 - before the count begins
import rp2  # noqa: F401 - the same
from bench import bench

WHAT, FREE = sys.argv[1].split(), int(sys.argv[2])
_BLOCK = 32  # a ballast's own, and what it is rounded up by


class Mpu:
    """An IMU that says who it is, so that its driver is there."""

    def read(self, register, size):
        return bytes([0x68] * size)

    def write(self, register, data):
        pass


bench.reset(30)
bench.voltages[26] = 50_000
bench.buses[0] = {0x68: Mpu()}
gc.collect()
ballast = bytearray(gc.mem_free() - FREE - _BLOCK) if FREE else b""
before = gc.mem_alloc()

import launcher  # noqa: E402
import pins  # noqa: E402

from firmware.boards import start  # noqa: E402
from firmware.boards.store import Store  # noqa: E402

beats_before = [0] if "hitl" in WHAT else []  # the car that was there first has one, too


def ticks_us():
    """First asked once the car is made, for its first beat."""
    if beats_before:
        return beats_before.pop()
    gc.collect()
    taken = gc.mem_alloc() - before
    for name in sys.modules:
        if name.startswith("firmware."):
            print(name)
    print(taken)
    sys.exit()


def at_once():
    return 0


starts = launcher.Starts()


def make_board():
    board = start.make_board(pins, starts, start.make_link(pins), Store(("a", "b")), at_once)
    if "paired" in WHAT:
        from firmware.boards.keys import take_key

        take_key(board, b"k" * 16 + board.board_id + b"n" * 16)  # key, id, name
        assert board.key
    gc.threshold(32_000)  # as start() does it, whose number tandem flash folds away
    return board


program = start.CarProgram(make_board(), starts, ticks_us, False)  # which alone has the board
program.hitl_entry.is_asked = True  # at once: the car that was there goes
program.run()
