"""The wake-up by which an input gets a step before the next tick."""

from __future__ import annotations

import asyncio
from collections.abc import Callable


class WakeSignal:
    """A wake-up for the one task that waits for it.

    A notification while nobody waits has no effect: the task is about to look anyway.
    """

    def __init__(self, now_us: Callable[[], int]) -> None:
        """Create it in the running event loop; ``now_us`` is the clock of the deadlines."""
        self._now_us = now_us
        self._loop = asyncio.get_running_loop()
        self._waiting: asyncio.Future[bool] | None = None

    def notify(self) -> None:
        """Wake the waiting task. Call it in the event loop."""
        self._resolve(is_notified=True)

    async def wait_until(self, until_us: int) -> bool:
        """Wait for a notification or until this time. Return True if it was notified."""
        self._waiting = self._loop.create_future()
        wait_s = (until_us - self._now_us()) * 1e-6
        timer = self._loop.call_later(max(wait_s, 0.0), self._resolve)
        try:
            return await self._waiting
        finally:
            timer.cancel()

    def _resolve(self, is_notified: bool = False) -> None:
        if self._waiting and not self._waiting.done():
            self._waiting.set_result(is_notified)
