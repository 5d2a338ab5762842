"""What an input rings to be asked before the next beat."""

from __future__ import annotations

import asyncio
from collections.abc import Callable


class Alarm:
    """What wakes whoever waits. Rung while nobody does it is not heard: they are about to look."""

    def __init__(self, now_us: Callable[[], int]) -> None:
        """``now_us`` is the time in which is waited; made in the event loop."""
        self._now_us = now_us
        self._loop = asyncio.get_running_loop()
        self._waiting: asyncio.Future[bool] | None = None

    def ring(self) -> None:
        """Be heard now; call it in the event loop."""
        self._end(has_rung=True)

    async def rings_before(self, until_us: int) -> bool:
        """Wait until it is rung, or until then; say which."""
        self._waiting = self._loop.create_future()
        wait_s = (until_us - self._now_us()) * 1e-6
        timer = self._loop.call_later(max(wait_s, 0.0), self._end)
        try:
            return await self._waiting
        finally:
            timer.cancel()

    def _end(self, has_rung: bool = False) -> None:
        if self._waiting and not self._waiting.done():
            self._waiting.set_result(has_rung)
