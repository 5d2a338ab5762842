"""The stdio link under a real MicroPython: what comes in is echoed, frame by frame of what came.

Ends when the REPL is asked for, saying so. Run by ``test_link.py`` with pipes for its streams.
"""

from firmware.boards.link import StdioLink

link = StdioLink()
buffer = bytearray(64)


def echo() -> None:
    link.pump()
    size = link.receive_into(buffer)
    while size:
        assert link.transmit(buffer, size)
        size = link.receive_into(buffer)


while not link.asks_for_repl:
    echo()
for _ in range(20):
    echo()
link.close()
print("REPL")
