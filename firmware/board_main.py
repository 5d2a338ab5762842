"""/main.py of a board: a host may speak from here on; then the launcher.

MicroPython takes 0x03 on the REPL's stream for Ctrl-C from main.py's first bytecode on, and a frame
may hold one: so it is made a byte like others before anything else. Short, for it is compiled at
each start.
"""

while True:
    try:
        import micropython

        if __name__ == "__main__":
            micropython.kbd_intr(-1)
        for _ in "..":
            pass  # an interrupt that came before is raised where a program jumps: here, and is over
        break
    except KeyboardInterrupt:
        pass

# Starts is for tandem flash
from launcher import Starts, launch  # type: ignore[import-not-found] # noqa: E402, F401

if __name__ == "__main__":
    launch()
    micropython.kbd_intr(3)
