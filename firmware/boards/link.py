"""The wire to the host: queues that the step fills and empties, pumped between steps.

A UART is the way without a REPL on it. A port whose only USB line is the REPL's shares it: then
0x03 is a byte like others (``kbd_intr``), and the way back is ``asks_for_repl``.
"""

import select
import sys

from firmware.compat import TYPE_CHECKING
from firmware.drivers.frame_window import move

if TYPE_CHECKING:
    from machine import UART

RECEIVE_SIZE = 512
SEND_SIZE = 1024
_CHUNK = 32
_STDIO_BYTES = 8  # in a turn: some 30 us each way on an RP2040, and the next step may be due
_REPL_BYTE = 0x03
_REPL_RUN = 16  # in a row: no claim, no stop has as many, and a parameter's 0x03 comes alone


class ByteQueue:
    """First in, first out, in one buffer."""

    def __init__(self, capacity: int) -> None:
        self.size = 0
        self._buffer = bytearray(capacity)

    def room(self) -> int:
        return len(self._buffer) - self.size

    def put(self, data: bytearray, size: int) -> bool:
        """``data[:size]`` whole, or nothing."""
        if size > self.room():
            return False
        move(data, 0, size, self._buffer, self.size)
        self.size += size
        return True

    def peek_into(self, data: bytearray, size: int) -> int:
        size = min(size, self.size)
        move(self._buffer, 0, size, data, 0)
        return size

    def drop(self, size: int) -> None:
        self.size -= size
        move(self._buffer, size, self.size, self._buffer, 0)


class Link:
    """``asks_for_repl`` once somebody has sent 0x03 sixteen times in a row, until ``forget``."""

    def __init__(self) -> None:
        self.asks_for_repl = False
        self._received = ByteQueue(RECEIVE_SIZE)
        self._to_send = ByteQueue(SEND_SIZE)
        self._run = 0

    def receive_into(self, buffer: bytearray) -> int:
        size = self._received.peek_into(buffer, len(buffer))
        self._received.drop(size)
        return size

    def transmit(self, data: bytearray, size: int) -> bool:
        return self._to_send.put(data, size)

    def forget(self) -> None:
        self.asks_for_repl = False
        self._run = 0

    def _take(self, data: bytearray, size: int) -> None:
        for i in range(size):
            self._run = self._run + 1 if data[i] == _REPL_BYTE else 0
            if self._run == _REPL_RUN:
                self.asks_for_repl = True
        self._received.put(data, size)

    def pump(self) -> None:
        """Between steps: what has come, and what waits to go, as far as neither blocks."""
        raise NotImplementedError

    def close(self) -> None:
        """The stream is the REPL's again."""


class UartLink(Link):
    def __init__(self, uart: "UART") -> None:
        super().__init__()
        self._uart = uart
        self._chunk = bytearray(_CHUNK)
        whole = memoryview(self._chunk)
        self._firsts = [whole[: size + 1] for size in range(_CHUNK)]  # a slice would allocate

    def pump(self) -> None:
        size = min(self._uart.any(), self._received.room(), _CHUNK)
        if size:
            self._take(self._chunk, self._uart.readinto(self._chunk, size) or 0)
        size = self._to_send.peek_into(self._chunk, _CHUNK)
        if size:
            self._to_send.drop(self._uart.write(self._firsts[size - 1]) or 0)


class StdioLink(Link):
    """Byte by byte: a read waits for all that it asks for, and a write for room, for half a
    second; ``ipoll`` says whether one byte would pass, and allocates nothing."""

    def __init__(self) -> None:
        super().__init__()
        _interrupt_by(-1)
        self._reader = sys.stdin.buffer
        self._writer = sys.stdout.buffer
        self._byte = bytearray(1)
        self._readable = select.poll()
        self._readable.register(sys.stdin, select.POLLIN)
        self._writable = select.poll()
        self._writable.register(sys.stdout, select.POLLOUT)

    def pump(self) -> None:
        for _ in range(_STDIO_BYTES):
            is_idle = self._pump_in() + self._pump_out() == 0
            if is_idle:
                return

    def _pump_in(self) -> int:
        if self._received.room() == 0 or not _is_ready(self._readable):
            return 0
        self._reader.readinto(self._byte)
        self._take(self._byte, 1)
        return 1

    def _pump_out(self) -> int:
        if self._to_send.size == 0 or not _is_ready(self._writable):
            return 0
        self._to_send.peek_into(self._byte, 1)
        self._writer.write(self._byte)
        self._to_send.drop(1)
        return 1

    def close(self) -> None:
        _interrupt_by(_REPL_BYTE)


def _interrupt_by(byte: int) -> None:
    """Which byte on the REPL's stream interrupts the program; -1 for none."""
    import micropython

    micropython.kbd_intr(byte)


def _is_ready(poller: "select.poll") -> bool:
    for _ in poller.ipoll(0):
        return True
    return False
