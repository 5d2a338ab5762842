"""Shared base of transports over a file descriptor: non-blocking, with a bounded send backlog."""

from __future__ import annotations

import asyncio
import os
from abc import ABC, abstractmethod
from collections.abc import Callable

from host_bridge.core.errors import TandemError, UsageFault
from host_bridge.link.transports.base import OnBytes, OnClosed

READ_BYTES = 4096  # what a Linux pipe or terminal hands over at once
# In addition to the system's own buffer. A second of claims at 100 Hz would be 4 KB; a claim
# is valid for 120 ms, so one that waits behind more than this has expired before it leaves.
BACKLOG_BYTES = 1024

OnLost = Callable[["OSError | None"], None]


class Stream:
    """The reading and writing of one open descriptor, until ``end()``."""

    def __init__(
        self, fd: int, on_bytes: OnBytes, on_lost: OnLost, read_bytes: int = READ_BYTES
    ) -> None:
        os.set_blocking(fd, False)
        self._fd = fd
        self._on_bytes = on_bytes
        self._on_lost = on_lost
        self._read_bytes = read_bytes  # the most that one read takes
        self._backlog = bytearray()
        self._is_open = True
        self._loop = asyncio.get_running_loop()
        self._loop.add_reader(fd, self._read)

    def send(self, data: bytes) -> int:
        """Send all of ``data`` or none; return the bytes taken.

        The rest of what the system took in part is sent first, so frames stay whole.
        """
        if not data or (self._backlog and len(self._backlog) + len(data) > BACKLOG_BYTES):
            return 0
        was_waiting = bool(self._backlog)
        self._backlog += data
        if not was_waiting:
            self._write()
            if self._backlog:
                self._loop.add_writer(self._fd, self._resume)
        return len(data)

    def rest(self, for_s: float) -> None:
        """Stop reading for so many seconds, because the writer sends too much."""
        if self._is_open:
            self._loop.remove_reader(self._fd)
            self._loop.call_later(for_s, self._read_again)

    def end(self) -> None:
        self._is_open = False
        self._loop.remove_reader(self._fd)
        self._loop.remove_writer(self._fd)

    def _read_again(self) -> None:
        if self._is_open:
            self._loop.add_reader(self._fd, self._read)

    def _read(self) -> None:
        try:
            data = os.read(self._fd, self._read_bytes)
        except BlockingIOError:
            return
        except OSError as error:
            self._lose(error)
            return
        if data:
            self._on_bytes(data)
        else:
            self._lose(None)

    def _resume(self) -> None:
        self._write()
        if not self._backlog:
            self._loop.remove_writer(self._fd)

    def _write(self) -> None:
        try:
            del self._backlog[: os.write(self._fd, self._backlog)]
        except BlockingIOError:
            return
        except OSError as error:
            self._backlog.clear()
            # Deferred: callers of send() do not expect on_lost from within it.
            self._loop.call_soon(self._lose, error)

    def _lose(self, error: OSError | None) -> None:
        if self._is_open:
            self.end()
            self._on_lost(error)


class DescriptorTransport(ABC):
    """A ``base.Transport`` over a descriptor that a subclass connects and disconnects."""

    is_virtual = False
    vehicle: str | None = None

    def __init__(self, label: str) -> None:
        self.label = label
        self.dropped_bytes = 0  # since its creation, those while closed included
        self._stream: Stream | None = None
        self._on_closed: OnClosed = _nobody

    async def open(self, on_bytes: OnBytes, on_closed: OnClosed) -> None:
        """Open the line. Raises errors.TandemError if that fails or if it is open already."""
        if self._stream:
            raise already_open(self.label)
        self._on_closed = on_closed
        self._stream = Stream(self._connect(), on_bytes, self._lost)

    def send(self, data: bytes) -> int:
        taken = self._stream.send(data) if self._stream else 0
        self.dropped_bytes += len(data) - taken
        return taken

    def close(self) -> None:
        if self._stream:
            self._stream.end()
            self._ended(None)

    def _lost(self, error: OSError | None) -> None:
        self._ended(self._lost_fault(error))

    def _ended(self, why: Exception | None) -> None:
        self._stream = None
        self._disconnect()
        self._on_closed(why)

    @abstractmethod
    def _connect(self) -> int:
        """Return an open descriptor, at once. Raises errors.TandemError."""

    @abstractmethod
    def _disconnect(self) -> None: ...

    @abstractmethod
    def _lost_fault(self, error: OSError | None) -> TandemError:
        """Return the error for a far end that went away; ``error`` is None after an end of file."""


def already_open(label: str) -> UsageFault:
    """Return the error of a second ``open``."""
    return UsageFault("open already", where=label, remedy="close it first")


def _nobody(_: Exception | None) -> None:
    """Ignore the closing: the callback before anybody opened the transport."""
