"""Running of a command's coroutine until it ends or a signal ends it."""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]  # as signal, without its enumerations
import asyncio
import signal
import threading
from collections.abc import Coroutine
from contextlib import suppress
from types import FrameType
from typing import Any, TypeVar

from host_bridge.core.errors import INTERRUPTED
from host_bridge.core.system.virtual_time import VirtualTimeLoop

T = TypeVar("T")

_SIGINT = int(signal.SIGINT)
_ENDING_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def run_async(main: Coroutine[Any, Any, int]) -> int:
    """Run the coroutine; return its exit code, or 130 after SIGINT, SIGTERM or SIGHUP.

    A signal cancels it, so that it still cleans up.
    """
    return asyncio.run(_interruptible(main))


def finish_at_once(work: Coroutine[Any, Any, T], waits: Exception) -> T:
    """Return the result of a coroutine that waits for nothing; raise ``waits`` if it waits."""
    try:
        work.send(None)
    except StopIteration as ended:
        found: T = ended.value
        return found
    work.close()
    raise waits


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


def run_in_thread(main: Coroutine[Any, Any, int]) -> int:
    """Run the coroutine in a thread of its own, for a caller whose event loop runs already.

    Return its exit code, or 130 after Ctrl-C, which cancels it, so that it still cleans up.
    """
    loop = asyncio.new_event_loop()
    task = loop.create_task(main)
    thread = threading.Thread(target=_run_until_done, args=(loop, task), name="tandem")

    def cancel(*_: object) -> None:
        with suppress(RuntimeError):  # its loop is closed already: it is over
            loop.call_soon_threadsafe(task.cancel)

    # A handler of its own: that of asyncio.run() would cancel the caller, who waits here
    before = signal.signal(signal.SIGINT, cancel) if _takes_interrupts() else None
    try:
        thread.start()
        thread.join()
    finally:
        if before is not None:
            signal.signal(signal.SIGINT, before)
    return INTERRUPTED if task.cancelled() else task.result()


def _run_until_done(loop: asyncio.AbstractEventLoop, task: asyncio.Task[int]) -> None:
    try:
        with suppress(BaseException):  # the caller of the thread takes it out of the task
            loop.run_until_complete(task)
        loop.run_until_complete(loop.shutdown_asyncgens())
    finally:
        loop.close()


def _takes_interrupts() -> bool:
    """Return whether Ctrl-C reaches this thread, by a handler that can be put back."""
    is_main = threading.current_thread() is threading.main_thread()
    return is_main and _signal.getsignal(_SIGINT) is not None


class HeldInterrupts:
    """A block that Ctrl-C does not cut in two: it is obeyed at the end of the block.

    It is for the main thread, and does nothing in any other: signals do not reach those. It is
    entered at every tick of a drive in lockstep, so it asks ``_signal``, which takes a tenth of the
    time that ``signal`` takes to make enumerations of handlers.
    """

    def __init__(self) -> None:
        self._before: Any = None
        self._frame: FrameType | None = None
        self._is_asked = False

    def __enter__(self) -> None:
        self._is_asked = False
        self._before = None
        if _takes_interrupts():
            self._before = _signal.signal(_SIGINT, self._note)

    def __exit__(self, *_: object) -> None:
        if self._before is None:
            return
        _signal.signal(_SIGINT, self._before)
        if self._is_asked and callable(self._before):
            self._before(signal.SIGINT, self._frame)

    def _note(self, number: int, frame: FrameType | None) -> None:
        self._is_asked, self._frame = True, frame
