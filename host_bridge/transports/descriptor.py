"""What transports over a file descriptor share: non-blocking both ways, with a bounded backlog."""

from __future__ import annotations

import asyncio
import os
from abc import ABC, abstractmethod
from collections.abc import Callable

from host_bridge.errors import TandemError, UsageFault
from host_bridge.transports.base import OnBytes, OnClosed

READ_BYTES = 4096
# Beside what the system itself holds. A second of claims' worth at 100 Hz would be 4 KB; a claim
# lives 120 ms, so what would wait behind more than this is dead before it leaves.
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
        self._read_bytes = read_bytes  # at most at once
        self._backlog = bytearray()
        self._is_open = True
        self._loop = asyncio.get_running_loop()
        self._loop.add_reader(fd, self._read)

    def send(self, data: bytes) -> int:
        """All or nothing. What the system took in part stays in front, so frames stay whole."""
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
        """Read nothing for a while: whoever writes there says too much."""
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
            # Not from here: nobody expects to be told within send() that all is over.
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
        self.dropped_bytes = 0  # since it was made; what a closed one did not take included
        self._stream: Stream | None = None
        self._on_closed: OnClosed = _nobody

    async def open(self, on_bytes: OnBytes, on_closed: OnClosed) -> None:
        """Raises errors.TandemError if it cannot, or is open already."""
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
        """A descriptor, at once. Raises errors.TandemError."""

    @abstractmethod
    def _disconnect(self) -> None: ...

    @abstractmethod
    def _lost_fault(self, error: OSError | None) -> TandemError:
        """What to tell people when the far end went away; None: it ended in good order."""


def already_open(label: str) -> UsageFault:
    """The error of a second ``open``."""
    return UsageFault("open already", where=label, remedy="close it first")


def _nobody(_: Exception | None) -> None:
    """Who is told before anyone opened it."""
