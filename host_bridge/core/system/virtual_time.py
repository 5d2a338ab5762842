"""An event loop with virtual time: a minute of it takes only as long as its computation.

When nothing is ready, time jumps to the next timer instead of waiting for it. Sockets and signals
are polled on every turn, so that whatever is driven in it can be stopped from outside.
"""

from __future__ import annotations

import asyncio
import selectors
import time
from collections.abc import Callable, Mapping
from typing import Any

Ready = list[tuple[selectors.SelectorKey, int]]

_POLL_S = 0.005  # how long a standing loop waits for its sockets before ``meanwhile`` is called
_BEHIND_S = 0.1  # chosen: a delay beyond this is not caught up


class VirtualTimeLoop(asyncio.SelectorEventLoop):
    """The event loop, which is also the clock of whatever runs in it."""

    def __init__(self, start_s: float = 1.0) -> None:
        """Set the start time: any but 0, which messages take for "never"."""
        self.now_s = start_s
        super().__init__(_VirtualTimeSelector(self))

    def time(self) -> float:
        """Return the loop's time in s."""
        return self.now_s

    def now_us(self) -> int:
        """Return the loop's time in us, as a ``clock.Clock`` does."""
        return round(self.now_s * 1e6)

    def wait_virtually(self, real: selectors.BaseSelector, timeout: float | None) -> Ready:
        """Return the ready files; if there are none, advance time by ``timeout``.

        Without a timer only the outside can go on, so this blocks until a file is ready.
        """
        ready = real.select(0 if timeout is not None else None)
        if timeout and not ready:
            self.now_s += timeout
        return ready


class SteppedTimeLoop(VirtualTimeLoop):
    """A loop whose time runs with the wall clock, stands still, or advances by steps.

    ``meanwhile`` is called repeatedly while it stands still, so that a caller can let it go on
    from there. A machine that is too slow slows the loop's time down; nothing in it becomes late.
    """

    def __init__(
        self, start_s: float = 1.0, monotonic_s: Callable[[], float] = time.monotonic
    ) -> None:
        """Start in pace with ``monotonic_s``, the wall clock."""
        super().__init__(start_s)
        self.meanwhile: Callable[[], None] = lambda: None
        self._monotonic_s = monotonic_s
        self._due_s = monotonic_s()  # the wall time that belongs to the loop's present time
        self._until_s: float | None = None  # the time to which it may step; None: not paused

    @property
    def is_paused(self) -> bool:
        """True if it is paused and has done all its steps."""
        return self._until_s is not None and self.now_s >= self._until_s

    def pause(self) -> None:
        """Stop the loop's time."""
        self._until_s = self.now_s

    def resume(self) -> None:
        """Run with the wall clock again, from the present time on."""
        self._until_s = None
        self._due_s = self._monotonic_s()

    def add_signal_handler(  # type: ignore[override]
        self, sig: int, callback: Callable[..., object], *args: Any
    ) -> None:
        """Add a handler that first lets time go on, so that a paused loop can end in order."""

        def heard() -> None:
            self.resume()
            callback(*args)

        super().add_signal_handler(sig, heard)

    def advance(self, seconds: float) -> None:
        """Advance by ``seconds`` and stand still again. While it runs, call ``pause`` first."""
        self._until_s = round((self._until_s or self.now_s) + seconds, 6)

    def wait_virtually(self, real: selectors.BaseSelector, timeout: float | None) -> Ready:
        """Return the ready files; if there are none, advance time as far as allowed."""
        ready = real.select(0)
        if ready or timeout == 0:
            return ready
        if self._until_s is not None:
            return self._stepped(real, timeout, self._until_s)
        if timeout is None:
            return real.select(_POLL_S)
        return self._paced(real, timeout)

    def _stepped(
        self, real: selectors.BaseSelector, timeout: float | None, until_s: float
    ) -> Ready:
        if timeout is None or self.is_paused:
            ready = real.select(_POLL_S)
            self.meanwhile()
            return ready
        self.now_s = min(self.now_s + timeout, until_s)
        return []

    def _paced(self, real: selectors.BaseSelector, timeout: float) -> Ready:
        wait_s = self._due_s + timeout - self._monotonic_s()
        ready = real.select(wait_s) if wait_s > 0 else []
        if ready:
            return ready  # the loop asks for the same timer again; its due time is unchanged
        self._due_s += timeout
        if wait_s < -_BEHIND_S:
            self._due_s = self._monotonic_s()
        self.now_s += timeout
        return ready


class _VirtualTimeSelector(selectors.BaseSelector):
    """A selector that advances its loop's time instead of waiting."""

    def __init__(self, loop: VirtualTimeLoop) -> None:
        self._loop = loop
        self._real = selectors.DefaultSelector()

    def select(self, timeout: float | None = None) -> Ready:
        """Return the ready files; the loop decides how its time passes."""
        return self._loop.wait_virtually(self._real, timeout)

    def register(self, fileobj: Any, events: int, data: Any = None) -> selectors.SelectorKey:
        """Register with the real selector."""
        return self._real.register(fileobj, events, data)

    def unregister(self, fileobj: Any) -> selectors.SelectorKey:
        """Unregister from the real selector."""
        return self._real.unregister(fileobj)

    def modify(self, fileobj: Any, events: int, data: Any = None) -> selectors.SelectorKey:
        """Modify at the real selector."""
        return self._real.modify(fileobj, events, data)

    def get_map(self) -> Mapping[Any, selectors.SelectorKey]:
        """Return the map of the real selector."""
        return self._real.get_map()

    def close(self) -> None:
        """Close the real selector."""
        self._real.close()
