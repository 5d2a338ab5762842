"""``python -m tandem_ros.program FD WORD...``: a command of Tandem that ends with its parent.

Where the lifecycle node is killed, the car that it lets drive comes to rest, as by Ctrl-C. The
parent's end is the end of a pipe: a parent-death signal of Linux comes once for each thread that
ends, and a second one ends a drive before its car rests.
"""

# mypy: ignore-errors
from __future__ import annotations

import os
import signal
import sys
import threading

from tandem_ros.command import main


def _end_with_parent(fd: int) -> None:
    os.read(fd, 1)  # nothing is ever written there
    os.kill(os.getpid(), signal.SIGTERM)


if __name__ == "__main__":
    threading.Thread(target=_end_with_parent, args=[int(sys.argv.pop(1))], daemon=True).start()
    sys.exit(main())
