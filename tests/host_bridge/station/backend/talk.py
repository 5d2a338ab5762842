"""A station without plots and without a browser: what its sockets say, and what they are told."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from websockets.sync.client import connect

from tests.host_bridge.cli.programs import program

_HEARS_S = 30.0  # only a failing test waits for it


class Station:
    """The sockets of a station at a port, and the token of its printed address."""

    def __init__(self, port: int, token: str) -> None:
        self._socket = f"ws://127.0.0.1:{port}"
        self.token = token

    def asked(self, **words: Any) -> Any:
        """The answer to a request of the seat's page."""
        with connect(f"{self._socket}/work", proxy=None) as it:
            it.send(json.dumps({"seat": self.token, **words}))
            return json.loads(it.recv(_HEARS_S))

    def tell(self, **words: Any) -> None:
        """Say something as any page of the station."""
        with connect(f"{self._socket}/status", proxy=None) as it:
            it.send(json.dumps(words))

    def picture(self) -> Any:
        """What every page is shown now."""
        with connect(f"{self._socket}/status", proxy=None) as it:
            return json.loads(it.recv(_HEARS_S))


@contextmanager
def talking_to(port: int, *words: str) -> Iterator[Station]:
    """``tandem station``, up."""
    with program("station", "--port", str(port), "--no-plots", *words) as process:
        assert process.stdout
        token = process.stdout.readline().strip().partition("#seat=")[2]
        assert token
        yield Station(port, token)
