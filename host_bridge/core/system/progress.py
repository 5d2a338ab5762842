"""Shows on a terminal how far a transfer has come."""

from __future__ import annotations

import sys
from collections.abc import Callable

from host_bridge.core.system.printable import can_draw, styled


def progress_count(what: str) -> Callable[[int, int], None]:
    """Return a function that shows a progress count in place, if stderr is a terminal."""

    def show(done: int, total: int) -> None:
        if can_draw(sys.stderr):
            end = "\n" if done == total else ""
            out = styled(sys.stderr)
            print(f"\r{what}: {done} of {total}", end=end, file=out, flush=True)

    return show
