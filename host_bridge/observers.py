"""Observers: any number of them, told in the order in which they came, each free to leave."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Generic, TypeVar

_LOGGER = logging.getLogger(__name__)

News = TypeVar("News")


class Observers(Generic[News]):
    """Whoever wants to be told of one thing. One that fails is logged, and keeps no other from it:
    what is watched must not depend on who watches."""

    def __init__(self) -> None:
        self._all: dict[object, Callable[[News], None]] = {}

    def subscribe(self, tell: Callable[[News], None]) -> Callable[[], None]:
        """From now on ``tell`` is called with each news; returns what ends that, at once."""
        key = object()  # the same function may subscribe twice
        self._all[key] = tell

        def unsubscribe() -> None:
            self._all.pop(key, None)

        return unsubscribe

    def tell(self, news: News) -> None:
        for key, tell in tuple(self._all.items()):
            if key not in self._all:  # it left on account of this very news
                continue
            try:
                tell(news)
            except Exception:
                _LOGGER.exception("an observer failed")

    def __len__(self) -> int:
        return len(self._all)
