"""The asynchronous side of a link: the tasks that connect a transport with a ``Connection``.

It opens the transport, carries bytes and time in and bytes out, and opens it again after it
closed. Nothing else in this folder knows asyncio.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Protocol

from host_bridge.core.errors import TandemError
from host_bridge.core.system.clock import Clock
from host_bridge.link.protocol.events import LinkEvent

# Between tries to open a transport that closed. A USB serial port is back 0.3 to 1 s after replug,
# and telemetry has to be there within 2 s.
BACKOFF_S = (0.05, 0.1, 0.2, 0.4, 0.5)


class ByteTransport(Protocol):
    """The part of ``transports.base.Transport`` by which a runner moves bytes."""

    async def open(
        self, on_bytes: Callable[[bytes], None], on_closed: Callable[[Exception | None], None]
    ) -> None: ...

    def send(self, data: bytes) -> int: ...

    def close(self) -> None: ...


class LinkEndpoint(Protocol):
    """The endpoint that speaks over the transport: a ``Connection``, or a ``Car`` around one."""

    def opened(self, now_us: int) -> None: ...

    def closed(self, now_us: int) -> list[LinkEvent]: ...

    def receive_data(self, data: bytes, now_us: int) -> list[LinkEvent]: ...

    def step(self, now_us: int) -> list[LinkEvent]: ...

    def next_due_us(self, now_us: int) -> int: ...

    def data_to_send(self) -> bytes: ...

    def on_output(self, call: Callable[[], None]) -> None: ...

    def leave(self) -> None: ...


class Runner:
    """The tasks of one link.

    ``on_events`` gets all that happens; ``unsent`` counts bytes that the transport did not take.
    """

    def __init__(
        self,
        transport: ByteTransport,
        endpoint: LinkEndpoint,
        clock: Clock,
        on_events: Callable[[list[LinkEvent]], None] = lambda events: None,
    ) -> None:
        self.unsent = 0
        self.fault: Exception | None = None  # why the transport is not open, if known
        self._transport = transport
        self._endpoint = endpoint
        self._clock = clock
        self._on_events = on_events
        self._is_open = False
        self._wake = asyncio.Event()  # the transport closed, or the next step is due
        endpoint.on_output(self.flush)

    async def open(self) -> None:
        """Open the transport. Raises errors.TandemError if it cannot be opened."""
        self._wake.clear()
        await self._transport.open(self._receive, self._close_down)
        if self._wake.is_set():
            return  # it closed while it opened
        self._is_open = True
        self.fault = None
        self._endpoint.opened(self._clock.now_us())
        self.flush()

    async def run(self) -> None:
        """Keep the link up until cancelled.

        If ``open`` was not called before, it is called here.
        """
        try:
            while True:
                if not self._is_open:
                    await self._reopen()
                await self._step_until_closed()
        finally:
            self.close()

    def close(self) -> None:
        """Leave the session and close the transport, at once."""
        if self._is_open:
            self._endpoint.leave()
            self.flush()
        self._transport.close()  # which calls _close_down, if it was open

    def flush(self) -> None:
        """Hand everything that waits to the transport."""
        data = self._endpoint.data_to_send()
        if data and self._is_open:
            self.unsent += len(data) - self._transport.send(data)

    async def _reopen(self) -> None:
        tries = 0
        while not self._is_open:
            await asyncio.sleep(BACKOFF_S[min(tries, len(BACKOFF_S) - 1)])
            tries += 1
            try:
                await self.open()
            except TandemError as fault:
                self.fault = fault

    async def _step_until_closed(self) -> None:
        while self._is_open:
            now_us = self._clock.now_us()
            self._on_events(self._endpoint.step(now_us))
            self.flush()
            wait_s = max(self._endpoint.next_due_us(now_us) - self._clock.now_us(), 0) * 1e-6
            await self._pause(wait_s)

    async def _pause(self, wait_s: float) -> None:
        """Wait until the time is over or the transport closed.

        Not ``asyncio.wait_for``: before Python 3.12 it swallows a cancellation that comes together
        with what it waits for, and closing and cancelling do come together.
        """
        timer = asyncio.get_running_loop().call_later(wait_s, self._wake.set)
        try:
            await self._wake.wait()
        finally:
            timer.cancel()
            self._wake.clear()

    def _receive(self, data: bytes) -> None:
        self._on_events(self._endpoint.receive_data(data, self._clock.now_us()))
        self.flush()

    def _close_down(self, fault: Exception | None) -> None:
        self.fault = fault
        self._wake.set()
        if self._is_open:
            self._is_open = False
            self._on_events(self._endpoint.closed(self._clock.now_us()))
