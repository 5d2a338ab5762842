"""Observers: any number of them, called in the order of their subscription, each free to leave."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Generic, TypeVar

_LOGGER = logging.getLogger(__name__)

News = TypeVar("News")


class Observers(Generic[News]):
    """The subscribers to one kind of news.

    One that fails is logged and keeps no other from being called: the observed object must not
    depend on who observes it.
    """

    def __init__(self) -> None:
        self._all: dict[object, Callable[[News], None]] = {}

    def subscribe(self, call: Callable[[News], None]) -> Callable[[], None]:
        """Call ``call`` with each news from now on; return the function that ends that at once."""
        key = object()  # the same function may subscribe twice
        self._all[key] = call

        def unsubscribe() -> None:
            self._all.pop(key, None)

        return unsubscribe

    def publish(self, news: News) -> None:
        for key, call in tuple(self._all.items()):
            if key not in self._all:  # an earlier observer of this news unsubscribed it
                continue
            try:
                call(news)
            except Exception:
                _LOGGER.exception("an observer failed")

    def __len__(self) -> int:
        return len(self._all)
