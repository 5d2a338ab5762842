"""The stdio link under a real MicroPython: what comes in is echoed, frame by frame of what came.

Ends when the REPL is asked for, saying so. Run by ``test_link.py`` with pipes for its streams.
"""

from firmware.boards.link import StdioLink

link = StdioLink()
buffer = bytearray(64)
while not link.asks_for_repl:
    link.pump()
    size = link.receive_into(buffer)
    if size:
        assert link.transmit(buffer, size)
for _ in range(20):
    link.pump()
link.close()
print("REPL")
