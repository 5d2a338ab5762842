"""The car's program with 95 % of the heap taken and 2 kB of garbage made at each beat.

A MicroPython runs it in place of ``firmware/main.py``; the garbage stands for drivers, a console or
a display that share the board.
"""

import gc
import sys

from firmware.main import made

_AT_ONCE = 200  # allocations between two checks, as mem_free() scans the whole heap
_SHARE_LEFT = 20  # a twentieth stays free
_PIECE = 64  # no larger: the free heap is fragmented


def drive(arguments: "list[str]") -> None:
    """Run the program as ``firmware.main.run`` does, with hardly any free memory."""
    app, board = made(arguments)
    kept: object = None
    gc.collect()
    left = gc.mem_free() // _SHARE_LEFT  # type: ignore[attr-defined] # MicroPython's
    while gc.mem_free() > left:  # type: ignore[attr-defined]
        for _ in range(_AT_ONCE):
            kept = (kept, bytearray(_PIECE))
    while board.wait():
        app.step(board.now_us)
        # 2 kB of garbage a step: a collection comes every few seconds
        for _ in range(2048 // _PIECE):
            bytearray(_PIECE)
        board.answer()


if __name__ == "__main__":
    drive(sys.argv[1:])
