"""A thread that waits for the executor, and does nothing else while its result is handled."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Generic, TypeVar

T = TypeVar("T")


class ExecutorThread(Generic[T]):
    """A thread that waits for one thing at a time.

    It waits for the next one only after ``resume``, so what it waits on is never used by two
    threads at once.
    """

    def __init__(self, wait: Callable[[], T], tell: Callable[[], object]) -> None:
        """Start the thread. ``wait`` returns what has come; ``tell`` is called after it.

        Both are called in the thread.
        """
        self._wait, self._tell = wait, tell
        self._found: T | None = None
        self._fault: Exception | None = None
        self._is_over = False
        self._may_wait = threading.Semaphore(1)
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    @property
    def has_found(self) -> bool:
        """True if something has come that nobody has taken yet."""
        return self._found is not None or self._fault is not None

    def take(self) -> T | None:
        """Return what has come, or None; then call ``resume``. Raises what waiting raised."""
        if self._fault is not None:
            raise self._fault
        found, self._found = self._found, None
        return found

    def resume(self) -> None:
        """Let the thread wait for the next."""
        self._may_wait.release()

    def close(self, rouse: Callable[[], object]) -> T | None:
        """End the thread; ``rouse`` interrupts its wait. Return what nobody has taken, or None."""
        self._is_over = True
        self.resume()
        rouse()
        self._thread.join()
        return self._found

    def _run(self) -> None:
        while True:
            self._may_wait.acquire()
            if self._is_over:
                return
            try:
                self._found = self._wait()
            except Exception as fault:  # noqa: BLE001 - take() raises it again
                self._fault = fault
            if not self._is_over:
                with suppress(RuntimeError):  # the event loop to be told has just closed
                    self._tell()
