"""``python -m tandem_ros.program FD WORD...``: runs a tandem command that ends with its parent.

If the lifecycle node is killed, its car comes to rest, as by Ctrl-C. The parent's end is detected
as the end of a pipe. A parent-death signal of Linux would come once for each thread that ends, and
a second one ends a drive before its car rests.
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
