"""Something that goes on beside a test that waits for it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def meanwhile(work: Callable[[], object], every_s: float) -> Iterator[None]:
    """Do it again and again, in a thread, until the block ends."""
    is_over = threading.Event()

    def repeat() -> None:
        work()
        while not is_over.wait(every_s):
            work()

    thread = threading.Thread(target=repeat)
    thread.start()
    try:
        yield
    finally:
        is_over.set()
        thread.join()
