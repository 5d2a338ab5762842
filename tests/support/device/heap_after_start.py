"""Prints the bytes of heap that the car's program takes: its code, its objects and its buffers."""

import gc

gc.collect()
before = gc.mem_alloc()

from firmware.app import App  # noqa: E402
from firmware.boards.simulated.virtual import VirtualBoard  # noqa: E402

app = App(VirtualBoard(bytes(8), b"", 0))
app.step(0)
gc.collect()
print(gc.mem_alloc() - before)
