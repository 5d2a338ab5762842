"""Runs a car's coroutines for a script that has no event loop: in a thread, or at once."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Coroutine
from typing import Any, Protocol, TypeVar

from host_bridge.core.system.running import finish_at_once
from tandem.asynchronous import AsyncCar

T = TypeVar("T")


class CoroutineRunner(Protocol):
    """The runner of a car's coroutines for a script that has no event loop."""

    def result(self, work: Coroutine[Any, Any, T]) -> T: ...

    def call(self, do: Callable[[], T]) -> T: ...

    def wait_until_us(self, car: AsyncCar, due_us: int) -> None: ...

    def end(self) -> None: ...


class ThreadRunner:
    """An event loop in its own thread, which keeps the link alive while the script computes."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True, name="tandem")
        self._thread.start()

    def result(self, work: Coroutine[Any, Any, T]) -> T:
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return future.result()
        except BaseException:
            future.cancel()
            raise

    def call(self, do: Callable[[], T]) -> T:
        async def done() -> T:
            return do()

        return self.result(done())

    def wait_until_us(self, car: AsyncCar, due_us: int) -> None:
        time.sleep(max(due_us * 1e-6 - car.now_s, 0.0))

    def end(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


class LockstepRunner:
    """A runner that finishes a coroutine at once: in lockstep none of them waits for anything."""

    def result(self, work: Coroutine[Any, Any, T]) -> T:
        return finish_at_once(
            work, RuntimeError("a car in lockstep waited for something that is not of its time")
        )

    def call(self, do: Callable[[], T]) -> T:
        return do()

    def wait_until_us(self, car: AsyncCar, due_us: int) -> None:
        self.result(car.wait(due_us * 1e-6 - car.now_s))

    def end(self) -> None:
        """Do nothing: there is nothing to close."""
