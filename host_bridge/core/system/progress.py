"""Shows on a terminal how far a transfer has come, or tells it to a program that asked for it."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable

from host_bridge.core.system.printable import can_draw, styled

LINES = "TANDEM_PROGRESS"  # with any value in the environment each step is a line of stderr


def progress_count(what: str) -> Callable[[int, int], None]:
    """Return a function that shows a progress count in place, if stderr is a terminal.

    With ``LINES`` in the environment each is a line: "read: 312 of 455".
    """

    def show(done: int, total: int) -> None:
        if os.environ.get(LINES):
            print(f"{what}: {done} of {total}", file=sys.stderr, flush=True)
        elif can_draw(sys.stderr):
            end = "\n" if done == total else ""
            out = styled(sys.stderr)
            print(f"\r{what}: {done} of {total}", end=end, file=out, flush=True)

    return show


def show_step(text: str) -> None:
    """Show which step of a long work begins: on a terminal, or as a line with ``LINES`` set."""
    if os.environ.get(LINES) or can_draw(sys.stderr):
        print(f"{text} ...", file=styled(sys.stderr), flush=True)
