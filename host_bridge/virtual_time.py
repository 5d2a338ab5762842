"""An event loop whose time is virtual: what would take a minute takes as long as it is computed.

Nobody waits in it: when nothing is left to do, it is later at once. Sockets and signals are looked
at on every turn, so that whatever is driven in it is stopped from outside as anything else is.
"""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Mapping
from typing import Any


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


class _Hurried(selectors.BaseSelector):
    """A selector that lets its loop's time pass instead of waiting for it."""

    def __init__(self, loop: VirtualTime) -> None:
        self._loop = loop
        self._real = selectors.DefaultSelector()

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        """What is ready; without a timer nothing but the outside can go on, and is waited for."""
        ready = self._real.select(0 if timeout is not None else None)
        if timeout and not ready:
            self._loop.now_s += timeout
        return ready

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
