"""/main.py of a board: makes 0x03 an ordinary byte of the link, then starts the launcher.

From main.py's first bytecode on MicroPython takes 0x03 on the REPL's stream for Ctrl-C, and a frame
may contain that byte. So this comes before anything else; from then on a host may send at any time.
The file is short because it is compiled at each start.
"""

while True:
    try:
        import micropython

        if __name__ == "__main__":
            micropython.kbd_intr(-1)
        for _ in "..":
            pass  # a pending KeyboardInterrupt is raised at a jump: here, where it is caught
        break
    except KeyboardInterrupt:
        pass

# tandem flash takes Starts from here
from launcher import Starts, launch  # type: ignore[import-not-found] # noqa: E402, F401

if __name__ == "__main__":
    launch()
    micropython.kbd_intr(3)
