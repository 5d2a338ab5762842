"""Prints the modules that an RP2 board's program loads, and the bytes of heap that it takes: the
launcher, the pins, code, objects, buffers, drivers.

On the virtual ``machine``, whose own modules are not counted; its pins and machines are, which on a
chip are smaller or take no heap. The folder of this script is a slot, as ``tandem flash`` fills it,
with the launcher beside it.
"""

import gc
import sys

import machine  # noqa: F401 - before the count begins
import rp2  # noqa: F401
from bench import bench


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
before = gc.mem_alloc()

import launcher  # noqa: E402
import pins  # noqa: E402

from firmware.app import App  # noqa: E402
from firmware.boards.start import make_board, make_link  # noqa: E402
from firmware.boards.store import Store  # noqa: E402


def ticks_us():
    return 0


starts = launcher.Starts()
board = make_board(pins, starts, make_link(pins), Store(("a", "b")), ticks_us)
app = App(board)
gc.collect()
taken = gc.mem_alloc() - before
print("\n".join(name for name in sys.modules if name.startswith("firmware.")))
print(taken)
