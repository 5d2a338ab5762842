"""The link to the host: queues that the step fills and empties, pumped before each step.

On a UART there is no REPL. A port whose only USB line is the REPL's shares it: then 0x03 is a byte
like others (``kbd_intr``), and ``asks_for_repl`` is the way back to the REPL.
"""

import io
import os
import select
import sys

from firmware.compat import TYPE_CHECKING, micropython, ptr8
from firmware.drivers.frame_window import move

if TYPE_CHECKING:
    from typing import Any

    from machine import UART

const = micropython.const

RECEIVE_SIZE = 512  # bytes: eight of the longest frames
SEND_SIZE = 1024  # bytes: sixteen of the longest frames
_UART_BLOCK = 128  # bytes of one read or write: for each four of them there is a view
_USB_BLOCK = 64  # a packet of full speed
_HEAD = 2  # of a frame: a delimiter and its first COBS code
_BLOCKS = 8  # each way in one pump: what a flood takes of the next step's time is bounded
_REPL_BYTE = 0x03  # Ctrl-C
_BLANK = const(0x77)  # any byte but a delimiter
_STOP_BYTE = const(0xA6)  # how a Stop begins behind its COBS code: its number XOR frame.WHITENER
_RUNS = 31 << 9  # of 0x03, as ``scanned`` counts them
_REPL_RUN = 16 << 9  # in a row: no claim, no stop has as many, and a parameter's comes alone
_HEARD_STOP = 1 << 16


@micropython.viper
def take_zeros_out(data: ptr8, start: int, size: int, many: int) -> int:
    """Remove the first ``many`` zeros of ``data[start:size]``; return the size that is left."""
    at = start
    i = start
    while i < size:
        if data[i] == 0 and many > 0:
            many -= 1
        else:
            data[at] = data[i]
            at += 1
        i += 1
    return at


@micropython.viper
def fill(data: ptr8, start: int, end: int, value: int) -> int:
    """Write ``value`` to ``data[start:end]``."""
    while start < end:
        data[start] = value
        start += 1
    return end


@micropython.viper
def written(data: ptr8, size: int) -> int:
    """Return how many bytes of a blank ``data[:size]`` were written; fewer if they end like it."""
    while size > 0 and data[size - 1] == _BLANK:
        size -= 1
    return size


@micropython.viper
def scanned(data: ptr8, size: int, before: int) -> int:
    """Scan received bytes for frames, a Stop and 0x03; return the state after ``data[:size]``.

    In its low byte: how many more bytes are promised. Bit 8: it ends with a delimiter. Bits 9 to
    13: the run of 0x03 that it ends with (16 in a row stay 16). Bit 14: a frame's first byte comes
    next. Bit 15: the frame is a Stop. Bit 16: a whole Stop came.

    ``before`` is the state after what came earlier. A COBS code promises the bytes that it stands
    for and the next code or the delimiter behind them; a delimiter promises nothing, and noise
    neither.
    """
    more = before & 255
    is_begun = before >> 8 & 1
    run = before >> 9 & 31
    is_first = before >> 14 & 1
    is_stop = before >> 15 & 1
    heard = 0
    i = 0
    while i < size:
        byte = data[i]
        if run < 16:  # as far as five bits count
            run = run + 1 if byte == 3 else 0
        if byte == 0:
            more = 0
            is_begun = 1
            heard |= is_stop
            is_stop = 0
        elif is_begun:
            more = byte
            is_begun = 0
            is_first = 1 if byte > 1 else 0
        elif more > 1:
            more -= 1
            if is_first:
                is_first = 0
                is_stop = 1 if byte == _STOP_BYTE else 0
        elif more == 1:
            more = byte
        i += 1
    return more | is_begun << 8 | run << 9 | is_first << 14 | is_stop << 15 | heard << 16


class ByteQueue:
    """A queue of bytes in one buffer, first in, first out."""

    def __init__(self, capacity: int) -> None:
        self.size = 0
        self._capacity = capacity
        self._buffer = bytearray(capacity)

    def room(self) -> int:
        return self._capacity - self.size

    @micropython.native
    def put(self, data: bytearray, size: int) -> bool:
        """Append ``data[:size]`` whole, or nothing and return False."""
        held = self.size
        if held + size > self._capacity:
            return False
        move(data, 0, size, self._buffer, held)
        self.size = held + size
        return True

    @micropython.native
    def take_into(self, data: bytearray, most: int) -> int:
        """Move up to ``most`` of the first bytes to ``data``; return how many."""
        taken = 0
        if self.size:
            taken = self.peek_into(data, most)
            self.drop(taken)
        return taken

    @micropython.native
    def peek_into(self, data: bytearray, most: int) -> int:
        size = self.size
        if size > most:
            size = most
        move(self._buffer, 0, size, data, 0)
        return size

    @micropython.native
    def drop(self, size: int) -> None:
        left = self.size - size
        self.size = left
        move(self._buffer, size, left, self._buffer, 0)


class Link:
    """The two queues of a link, and what is noticed in received bytes before a step reads them.

    ``asks_for_repl`` is set once 0x03 came sixteen times in a row, until ``forget``; ``hears_stop``
    once what looks like a Stop has come, until the step that looks at it.
    """

    def __init__(self) -> None:
        self.asks_for_repl = False
        self.hears_stop = False
        self._received = ByteQueue(RECEIVE_SIZE)
        self._to_send = ByteQueue(SEND_SIZE)
        self._scanned = 0

    def receive_into(self, buffer: bytearray) -> int:
        return self._received.take_into(buffer, len(buffer))

    def transmit(self, data: bytearray, size: int) -> bool:
        return self._to_send.put(data, size)

    def forget(self) -> None:
        self.asks_for_repl = False
        self._scanned &= ~_RUNS

    @micropython.native
    def take(self, data: bytearray, size: int) -> None:
        state = scanned(data, size, self._scanned)
        if state & _RUNS >= _REPL_RUN:
            self.asks_for_repl = True
        if state & _HEARD_STOP:
            self.hears_stop = True
        self._scanned = state & ~_HEARD_STOP
        self._received.put(data, size)

    @micropython.native
    def pump(self) -> None:
        """Receive and send as far as neither blocks; called before each step."""
        self.listen()
        self.send()

    def listen(self) -> None:
        """Receive what has come."""
        raise NotImplementedError

    def send(self) -> None:
        """Send as much of what waits as there is room for."""
        raise NotImplementedError

    def close(self) -> None:
        """Give the stream back to the REPL."""


def make_firsts(buffer: bytearray) -> "list[memoryview]":
    """Make views of the first 0, 1, 2 ... bytes of ``buffer``: a slice would allocate."""
    whole = memoryview(buffer)
    return [whole[:size] for size in range(len(buffer) + 1)]


class UartLink(Link):
    """A UART reads as much as it is told. What it writes are views of the block: one for
    each four bytes and for what is less, for those of each length would take 2 kB of the heap."""

    def __init__(self, uart: "UART") -> None:
        super().__init__()
        self._uart = uart
        self._block = bytearray(_UART_BLOCK)
        whole = memoryview(self._block)
        self._fours = [whole[:size] for size in range(0, _UART_BLOCK + 1, 4)]
        self._ones = [whole[:size] for size in range(4)]

    def listen(self) -> None:
        for _ in range(_BLOCKS):
            size = min(self._uart.any(), self._received.room(), _UART_BLOCK)
            if size == 0:
                break
            self.take(self._block, self._uart.readinto(self._block, size) or 0)

    def send(self) -> None:
        for _ in range(_BLOCKS):
            size = self._to_send.peek_into(self._block, _UART_BLOCK)
            if size == 0:
                break
            view = self._fours[size >> 2] if size > 3 else self._ones[size]
            written = self._uart.write(view) or 0
            self._to_send.drop(written)
            if written < len(view):
                break


class Filler(io.IOBase):
    """A second stream that ends a read of the REPL's stream that would wait, with zeros.

    MicroPython reads the REPL's stream byte by byte and waits for each; only where the stream has
    none it asks the second one (``os.dupterm``), which is there for the time of a read. What came
    before ``first`` came over the wire, delimiters too; behind it more may have come meanwhile.
    """

    def __init__(self, block: bytearray) -> None:
        self.filled = self.first = self.size = 0
        self._block = block

    def readinto(self, buffer: bytearray) -> int:
        if not self.filled:
            self.first = written(self._block, self.size)
        buffer[0] = 0
        self.filled += 1
        return 1

    def write(self, data: bytearray) -> int:
        return len(data)

    def ioctl(self, request: int, argument: int) -> int:
        return 0


class StdioLink(Link):
    """The link on the REPL's stream, in blocks: a call costs as much as 20 bytes. It never waits.

    **Receiving**: a read waits for all that it asks for, and nothing says how much has come. So it
    asks for two bytes, a delimiter and the first COBS code, and then for as many as the code
    promises, which nearly always is the rest of the frame, and for the next two. What is not there
    then the filler gives, as zeros, which are taken out again: that costs less than another read
    for each frame.

    **Sending**: a write waits up to half a second for room, and that there is any says only that
    one byte has it. So it writes whole packets, the last one padded: the port's buffer is a
    multiple of them, and where one byte has room a packet has.
    """

    def __init__(self) -> None:
        super().__init__()
        _interrupt_by(-1)
        self._reader = sys.stdin.buffer
        self._writer = sys.stdout.buffer
        self._block = bytearray(_USB_BLOCK)
        self._filler = Filler(self._block)
        self._firsts = make_firsts(self._block)
        fill_from: "Any" = getattr(os, "dupterm", None)
        self._fill_from = fill_from or _ends_by_itself
        self._ahead = _HEAD if fill_from else 0  # without a filler a read would wait for these
        self._readable = select.poll()
        self._readable.register(sys.stdin, select.POLLIN)
        self._writable = select.poll()
        self._writable.register(sys.stdout, select.POLLOUT)

    @micropython.native
    def listen(self) -> None:
        received = self._received
        for _ in range(_BLOCKS):
            if received.room() < _USB_BLOCK or not _is_ready(self._readable):
                break
            while self._read() and self._scanned & 255 and received.room() >= _USB_BLOCK:
                pass

    @micropython.native
    def send(self) -> None:
        to_send = self._to_send
        for _ in range(_BLOCKS):
            if to_send.size == 0 or not _is_ready(self._writable):
                break
            # zeros to the packet's end: between frames they mean nothing
            fill(self._block, to_send.take_into(self._block, _USB_BLOCK), _USB_BLOCK, 0)
            self._writer.write(self._block)

    @micropython.native
    def _read(self) -> bool:
        """Read what was promised and two bytes more, the next frame's first, one packet at most.

        Return False if not all of it was there.
        """
        size = (self._scanned & 255) + self._ahead or _HEAD
        if size > _USB_BLOCK:
            size = _USB_BLOCK
        block, filler = self._block, self._filler
        filler.filled = 0
        filler.size = fill(block, 0, size, _BLANK)
        self._fill_from(filler)
        came = self._reader.readinto(self._firsts[size]) or 0
        self._fill_from(None)
        if filler.filled:
            came = take_zeros_out(block, filler.first, came, filler.filled)
        self.take(block, came)
        return came == size

    def close(self) -> None:
        _interrupt_by(_REPL_BYTE)


def _ends_by_itself(filler: "Filler | None") -> None:
    """Do nothing: without ``os.dupterm`` a read asks for what was promised and waits for it."""


def _interrupt_by(byte: int) -> None:
    """Set which byte on the REPL's stream interrupts the program; -1 for none."""
    import micropython

    micropython.kbd_intr(byte)


@micropython.native
def _is_ready(poller: "select.poll") -> bool:
    for _ in poller.ipoll(0):
        return True
    return False
