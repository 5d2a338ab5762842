"""Sends back at once what comes over a pseudo-terminal; prints the device to open."""

import os
import tty

master, slave = os.openpty()  # the far end is kept open: a line that nobody holds is hung up
tty.setraw(slave)
print(os.ttyname(slave), flush=True)
while True:
    os.write(master, os.read(master, 4096))
