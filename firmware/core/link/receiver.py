"""The receive path: decodes the link's bytes to messages and hands each to its handler."""

from firmware.compat import TYPE_CHECKING, micropython
from firmware.protocol.codec import DECODED, OUT_OF_RANGE, decode_into, decode_values_into
from firmware.protocol.frame import FrameReader

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from firmware.compat import array
    from firmware.core.contract import Board
    from firmware.protocol.codec import Message

    Routes = tuple[tuple[Message, Callable[[Any, int], None]], ...]

_BUFFER = 256  # bytes of one read: four of the longest frames
_IDS = 64  # messages are numbered below that
_READS_PER_STEP = 4  # 1 kB a step is ten times what a host sends; a flood must not stretch the step


class Receiver:
    def __init__(self, board: "Board", crc_table: "array[int]") -> None:
        self.reader = FrameReader(crc_table)
        self.unknown = 0
        self.out_of_range = 0
        self.size = 0  # of the payload in reader.frame that is being handled
        self._board = board
        self._buffer = bytearray(_BUFFER)
        self._messages: "list[Message | None]" = [None] * _IDS
        self._decoders: "list[Callable[[Message, bytearray, int], int]]" = [decode_into] * _IDS
        self._handlers: "list[Callable[[Any, int], None] | None]" = [None] * _IDS

    def route(self, routes: "Routes") -> None:
        for message, handler in routes:
            self._messages[message.ID] = message
            self._handlers[message.ID] = handler
            self._decoders[message.ID] = decode_into

    def route_by_values(self, routes: "Routes") -> None:
        """Add routes whose handlers read a message's ``values``, and not its attributes."""
        self.route(routes)
        for message, _ in routes:
            self._decoders[message.ID] = decode_values_into

    def step(self, now_us: int) -> None:
        for _ in range(_READS_PER_STEP):
            size = self._board.receive_into(self._buffer)
            if size == 0:
                return
            self._read(size, now_us)

    @micropython.native
    def _read(self, size: int, now_us: int) -> None:
        at, reader, buffer = 0, self.reader, self._buffer
        while at < size:
            at = reader.read(buffer, at, size)
            if at < size:  # at a delimiter
                at += 1
                payload_size = reader.payload_size()
                if payload_size:
                    self._handle(payload_size, now_us)

    @micropython.native
    def _handle(self, size: int, now_us: int) -> None:
        payload = self.reader.frame
        number = payload[0]
        message = self._messages[number] if number < _IDS else None
        handler = self._handlers[number] if message else None
        if message is None or handler is None:
            self.unknown += 1
            return
        verdict = self._decoders[number](message, payload, size)
        if verdict == DECODED:
            self.size = size
            handler(message, now_us)
        elif verdict == OUT_OF_RANGE:
            self.out_of_range += 1
        else:
            self.unknown += 1
