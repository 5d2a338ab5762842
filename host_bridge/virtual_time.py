"""An event loop whose time is virtual: what would take a minute takes as long as it is computed.

Nobody waits in it: when nothing is left to do, it is later at once. Sockets and signals are looked
at on every turn, so that whatever is driven in it is stopped from outside as anything else is.
"""

from __future__ import annotations

import asyncio
import selectors
import time
from collections.abc import Callable, Mapping
from typing import Any

Ready = list[tuple[selectors.SelectorKey, int]]

_POLL_S = 0.005  # how often somebody is listened to who may let a time go on that stands still
_BEHIND_S = 0.1  # chosen: more than this is not made up for


class VirtualTime(asyncio.SelectorEventLoop):
    """The loop, and the clock of whatever runs in it."""

    def __init__(self, start_s: float = 1.0) -> None:
        """``start_s`` is any time but 0, which messages take for "never"."""
        self.now_s = start_s
        super().__init__(_Hurried(self))

    def time(self) -> float:
        """The loop's time, in s."""
        return self.now_s

    def now_us(self) -> int:
        """The same, as a ``clock.Clock`` says it."""
        return round(self.now_s * 1e6)

    def let_pass(self, real: selectors.BaseSelector, timeout: float | None) -> Ready:
        """What is ready; without a timer nothing but the outside can go on, and is waited for."""
        ready = real.select(0 if timeout is not None else None)
        if timeout and not ready:
            self.now_s += timeout
        return ready


class SteppedTime(VirtualTime):
    """A loop whose time keeps pace with the world's, stands still, or goes on by steps.

    ``meanwhile`` is called again and again while it stands still: whoever may let it go on is heard
    there. A machine that is too slow makes its time slower, and nothing in it late.
    """

    def __init__(
        self, start_s: float = 1.0, monotonic_s: Callable[[], float] = time.monotonic
    ) -> None:
        """``monotonic_s`` is the world's time."""
        super().__init__(start_s)
        self.meanwhile: Callable[[], None] = lambda: None
        self._monotonic_s = monotonic_s
        self._due_s = monotonic_s()  # when it is to be as late as it is, by the world's time
        self._until_s: float | None = None  # paused: how far it may go

    @property
    def is_standing(self) -> bool:
        """It is paused, and all steps that it was to make are made."""
        return self._until_s is not None and self.now_s >= self._until_s

    def pause(self) -> None:
        """Stand still."""
        self._until_s = self.now_s

    def go_on(self) -> None:
        """Keep pace again, from here."""
        self._until_s = None
        self._due_s = self._monotonic_s()

    def add_signal_handler(  # type: ignore[override]
        self, sig: int, callback: Callable[..., object], *args: Any
    ) -> None:
        """As any loop does; and whoever ends it is not kept waiting by a time that stands."""

        def heard() -> None:
            self.go_on()
            callback(*args)

        super().add_signal_handler(sig, heard)

    def step_by(self, seconds: float) -> None:
        """Go on by this and stand still again; while it runs, pause first."""
        self._until_s = round((self._until_s or self.now_s) + seconds, 6)

    def let_pass(self, real: selectors.BaseSelector, timeout: float | None) -> Ready:
        """What is ready; time passes only where nothing is, and as far as it may."""
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
        if timeout is None or self.is_standing:
            ready = real.select(_POLL_S)
            self.meanwhile()
            return ready
        self.now_s = min(self.now_s + timeout, until_s)
        return []

    def _paced(self, real: selectors.BaseSelector, timeout: float) -> Ready:
        wait_s = self._due_s + timeout - self._monotonic_s()
        ready = real.select(wait_s) if wait_s > 0 else []
        if ready:
            return ready  # the timer is asked for again, and is due when it was
        self._due_s += timeout
        if wait_s < -_BEHIND_S:
            self._due_s = self._monotonic_s()
        self.now_s += timeout
        return ready


class _Hurried(selectors.BaseSelector):
    """A selector that lets its loop's time pass instead of waiting for it."""

    def __init__(self, loop: VirtualTime) -> None:
        self._loop = loop
        self._real = selectors.DefaultSelector()

    def select(self, timeout: float | None = None) -> Ready:
        """What is ready, as the loop lets its time pass."""
        return self._loop.let_pass(self._real, timeout)

    def register(self, fileobj: Any, events: int, data: Any = None) -> selectors.SelectorKey:
        """As the selector that this one stands for."""
        return self._real.register(fileobj, events, data)

    def unregister(self, fileobj: Any) -> selectors.SelectorKey:
        """Likewise."""
        return self._real.unregister(fileobj)

    def modify(self, fileobj: Any, events: int, data: Any = None) -> selectors.SelectorKey:
        """Likewise."""
        return self._real.modify(fileobj, events, data)

    def get_map(self) -> Mapping[Any, selectors.SelectorKey]:
        """Likewise."""
        return self._real.get_map()

    def close(self) -> None:
        """Likewise."""
        self._real.close()
