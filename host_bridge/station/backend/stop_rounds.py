"""Batches the stop requests of a station into rounds, so that a few threads serve all callers.

Whatever is asked for within a round's wait is one stop of all that is meant; each caller is told as
its cars acknowledge, and none waits for another's car that hangs. A round begins at once where none
goes on, else within a quarter of a second. Who asks is done when each car that they mean has
acknowledged, whatever else of their round hangs.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from host_bridge.sharing.stop.stop_request import StopCall

EVERY_S = 0.25  # a round lasts a little more than 1 s at most, so about five run at once
_MOST = 6  # threads
Tell = Callable[[StopCall], object]
Looked = Callable[[list[str]], object]
# Stops the cars of these names, or all: in a thread. Tells of each as it acknowledges, or does not,
# and the name of each once all were looked for
StopFunction = Callable[[tuple[str, ...], Tell, Looked], object]


class StopRounds:
    """The rounds of one station; ``stop`` may be called by any task at any time."""

    def __init__(self, stop_them: StopFunction) -> None:
        self._stop_them = stop_them
        self._threads = ThreadPoolExecutor(_MOST, thread_name_prefix="stop")
        self._waiting: list[_CallerRequest] = []
        self._is_planned = False
        self._going_on = 0
        self._begun_s = 0.0

    async def stop(self, names: tuple[str, ...], tell: Tell) -> set[str]:
        """Stop these cars, or all; return the names of those whose outcome was reported.

        Raises errors.TandemError.
        """
        asked = _CallerRequest(names, tell)
        self._waiting.append(asked)
        if not self._is_planned:
            self._is_planned = True
            loop = asyncio.get_running_loop()
            wait_s = self._begun_s + EVERY_S - loop.time() if self._going_on else 0.0
            loop.call_later(max(wait_s, 0.0), self._begin)
        await asked.is_over
        return asked.answered

    def close(self) -> None:
        """End without waiting; stops that are being sent are finished."""
        self._threads.shutdown(wait=False)

    def _begin(self) -> None:
        loop = asyncio.get_running_loop()
        self._is_planned, self._begun_s = False, loop.time()
        round_of, self._waiting = self._waiting, []
        names = {name for asked in round_of for name in asked.names}
        if any(not asked.names for asked in round_of):
            names = set()
        self._going_on += 1

        def hear(call: StopCall) -> None:
            loop.call_soon_threadsafe(_hear, round_of, call)

        def look(found: list[str]) -> None:
            loop.call_soon_threadsafe(_look, round_of, found)

        asked = tuple(sorted(names)), hear, look
        done = loop.run_in_executor(self._threads, self._stop_them, *asked)
        done.add_done_callback(partial(self._end, round_of))

    def _end(self, round_of: list[_CallerRequest], done: asyncio.Future[object]) -> None:
        self._going_on -= 1
        fault = None if done.cancelled() else done.exception()
        for asked in round_of:
            asked.end(fault)


class _CallerRequest:
    """One caller's request, and the cars whose outcome it was told."""

    def __init__(self, names: tuple[str, ...], tell: Tell) -> None:
        self.names = names
        self.answered: set[str] = set()
        self.is_over: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._tell = tell
        self._answers = 0
        self._expected: int | None = None  # of two cars one may have the other's name

    def hear(self, call: StopCall) -> None:
        if self.is_over.done() or not self._means(call.name):
            return
        self.answered.add(call.name)
        self._answers += 1
        self._tell(call)
        self._end_if_all_answered()

    def look(self, found: list[str]) -> None:
        """Take all names that were found, so that it ends once each of them has answered."""
        self._expected = sum(map(self._means, found))
        self._end_if_all_answered()

    def _means(self, name: str) -> bool:
        return not self.names or name in self.names

    def _end_if_all_answered(self) -> None:
        if self._answers == self._expected:
            self.end(None)

    def end(self, fault: BaseException | None) -> None:
        if self.is_over.done():  # the caller has been cancelled
            return
        if fault:
            self.is_over.set_exception(fault)
        else:
            self.is_over.set_result(None)


def _look(round_of: list[_CallerRequest], found: list[str]) -> None:
    for asked in round_of:
        asked.look(found)


def _hear(round_of: list[_CallerRequest], call: StopCall) -> None:
    for asked in round_of:
        asked.hear(call)
