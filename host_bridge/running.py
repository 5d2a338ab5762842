"""A command's coroutine, run until it ends or somebody ends it."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Coroutine
from typing import Any

INTERRUPTED = 130  # as shells count: 128 and the number of SIGINT
_ENDING_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def run_async(main: Coroutine[Any, Any, int]) -> int:
    """Run it; Ctrl-C, a hang-up or a polite kill end it in order, with exit code 130."""
    return asyncio.run(_interruptible(main))


async def _interruptible(main: Coroutine[Any, Any, int]) -> int:
    task = asyncio.ensure_future(main)
    loop = asyncio.get_running_loop()
    for number in _ENDING_SIGNALS:
        loop.add_signal_handler(number, task.cancel)
    try:
        return await task
    except asyncio.CancelledError:
        return INTERRUPTED
