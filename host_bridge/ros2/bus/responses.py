"""Service responses that are sent when the outcome is known."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class DeferredResponse:
    """A service response that is sent as soon as the outcome is known."""

    def __init__(self, response: Any) -> None:
        self._response = response
        self._send: Callable[..., None] | None = None
        self._is_filled = False

    def begin(self, send: Callable[..., None]) -> None:
        """Set ``send``, which delivers the response to the caller."""
        self._send = send
        self._send_if_whole()

    def fill(self, is_done: bool, words: str) -> None:
        self._response = _filled(self._response, is_done, words)
        self._is_filled = True
        self._send_if_whole()

    def _send_if_whole(self) -> None:
        if self._send is not None and self._is_filled:
            self._send(self._response)


def _filled(response: Any, is_done: bool, words: str) -> Any:
    """Fill a service response, in the outcome fields of std_srvs, Autoware or TIER IV."""
    if hasattr(response, "status"):
        response.status.code = response.status.SUCCESS if is_done else response.status.ERROR
        response.status.message = words
        return response
    response.success = is_done
    if hasattr(response, "message"):
        response.message = words
    return response
