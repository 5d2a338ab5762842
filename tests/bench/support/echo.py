"""Sends back what comes over a pseudo-terminal, and prints the device to open.

``echo.py [BEAT_MS]``: at once, or on its next beat, as a car would that has nothing to work out.
"""

import os
import select
import sys
import time
import tty

beat_s = float(sys.argv[1]) * 1e-3 if len(sys.argv) > 1 else 0.0
master, slave = os.openpty()  # the far end is kept open: a line that nobody holds is hung up
tty.setraw(slave)
print(os.ttyname(slave), flush=True)
next_s = time.monotonic()
while True:
    if beat_s:
        next_s = max(next_s + beat_s, time.monotonic())  # what was missed is missed
        time.sleep(max(next_s - time.monotonic(), 0))
        if not select.select([master], [], [], 0)[0]:
            continue
    os.write(master, os.read(master, 4096))
