"""A thread that waits for what comes, and does nothing else while somebody takes it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Generic, TypeVar

T = TypeVar("T")


class Waiter(Generic[T]):
    """Waits for one thing at a time; the next is waited for once that was taken and it is told to
    go on. So what it waits on is never used by two at once.
    """

    def __init__(self, wait: Callable[[], T], tell: Callable[[], object]) -> None:
        """``wait`` returns what has come; ``tell`` is called then, in the thread."""
        self._wait, self._tell = wait, tell
        self._found: T | None = None
        self._fault: Exception | None = None
        self._is_over = False
        self._may_wait = threading.Semaphore(1)
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    @property
    def has_found(self) -> bool:
        """Something has come, and nobody has taken it yet."""
        return self._found is not None or self._fault is not None

    def take(self) -> T | None:
        """Return what has come, if anything has; then ``go_on``. Raises what waiting raised."""
        if self._fault is not None:
            raise self._fault
        found, self._found = self._found, None
        return found

    def go_on(self) -> None:
        """Wait for the next."""
        self._may_wait.release()

    def close(self, rouse: Callable[[], object]) -> T | None:
        """Wait for nothing more; ``rouse`` ends a wait that lasts. Returns what nobody took."""
        self._is_over = True
        self.go_on()
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
            except Exception as fault:  # noqa: BLE001 - raised to whoever takes
                self._fault = fault
            if not self._is_over:
                with suppress(RuntimeError):  # whoever would be told has just ended
                    self._tell()
