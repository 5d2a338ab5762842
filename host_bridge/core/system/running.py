"""Running of a command's coroutine until it ends or a signal ends it."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Coroutine
from contextlib import suppress
from typing import Any

from host_bridge.core.system.virtual_time import VirtualTimeLoop

INTERRUPTED = 130  # the shells' convention: 128 plus the number of SIGINT
_ENDING_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def run_async(main: Coroutine[Any, Any, int]) -> int:
    """Run the coroutine; return its exit code, or 130 after SIGINT, SIGTERM or SIGHUP.

    A signal cancels it, so that it still cleans up.
    """
    return asyncio.run(_interruptible(main))


def run_in_virtual_time(main: Coroutine[Any, Any, int], loop: VirtualTimeLoop) -> int:
    """Run the coroutine as ``run_async`` does, in a loop with virtual time, and close that loop."""
    try:
        return loop.run_until_complete(_interruptible(main))
    finally:
        for task in asyncio.all_tasks(loop):
            task.cancel()
            with suppress(asyncio.CancelledError):
                loop.run_until_complete(task)
        loop.run_until_complete(loop.shutdown_asyncgens())
        loop.close()


async def _interruptible(main: Coroutine[Any, Any, int]) -> int:
    task = asyncio.ensure_future(main)
    loop = asyncio.get_running_loop()
    for number in _ENDING_SIGNALS:
        loop.add_signal_handler(number, task.cancel)
    try:
        return await task
    except asyncio.CancelledError:
        return INTERRUPTED
