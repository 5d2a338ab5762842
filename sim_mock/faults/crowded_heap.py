"""The car's program with 95 % of its heap taken, and two kilobytes made and dropped at each beat.

Run by a MicroPython in place of ``firmware/main.py``; what it makes stands for drivers, a console
or a display that share the board.
"""

import gc
import sys

from firmware.main import made

_AT_ONCE = 200  # asking how much is free looks through all of it
_SHARE_LEFT = 20  # a twentieth
_PIECE = 64  # no larger: what is free is in pieces


def drive(arguments: "list[str]") -> None:
    """As ``firmware.main.run``, with hardly any room."""
    app, board = made(arguments)
    kept: object = None
    gc.collect()
    left = gc.mem_free() // _SHARE_LEFT  # type: ignore[attr-defined] # MicroPython's
    while gc.mem_free() > left:  # type: ignore[attr-defined]
        for _ in range(_AT_ONCE):
            kept = (kept, bytearray(_PIECE))
    while board.wait():
        app.step(board.now_us)
        for _ in range(2048 // _PIECE):
            bytearray(_PIECE)
        board.answer()


if __name__ == "__main__":
    drive(sys.argv[1:])
