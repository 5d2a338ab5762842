"""``python -m tandem_ros.program PARENT WORD...``: a command of Tandem that ends with its parent.

Where the lifecycle node is killed, the car that it lets drive comes to rest, as by Ctrl-C.
"""

# mypy: ignore-errors
from __future__ import annotations

import ctypes
import os
import signal
import sys

from tandem_ros.command import main

_PR_SET_PDEATHSIG = 1  # prctl(2)


def _end_with(parent: int) -> None:
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
    if os.getppid() != parent:
        sys.exit("tandem_ros: whoever started this has ended already")


if __name__ == "__main__":
    _end_with(int(sys.argv.pop(1)))
    sys.exit(main())
