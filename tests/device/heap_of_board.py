"""Prints the bytes of heap that an RP2 board's program takes: code, objects, buffers, drivers.

On the virtual ``machine``, whose own modules are not counted; its pins and machines are, which on a
chip are smaller or take no heap. Argument: a folder with ``pins.py``.
"""

import gc
import sys

import machine  # noqa: F401 - before the count begins
import rp2  # noqa: F401
from bench import bench

sys.path.append(sys.argv[1])
import pins

bench.reset(30 if max(pin for pin, _ in pins.SAFE_LEVELS) < 30 else 48)
bench.voltages[pins.BATTERY[1]] = 50_000
gc.collect()
before = gc.mem_alloc()

from firmware.app import App  # noqa: E402
from firmware.boards.link import Link  # noqa: E402
from firmware.boards.start import make_board  # noqa: E402
from firmware.boards.store import Store  # noqa: E402


class Starts:
    failed = 0


def ticks_us():
    return 0


board = make_board(pins, Starts(), Link(), Store(("a", "b")), ticks_us)
app = App(board)
gc.collect()
print(gc.mem_alloc() - before)
