"""The transmit queue of messages. One that finds no room is lost and counted; no step waits."""

from firmware.compat import TYPE_CHECKING, micropython
from firmware.protocol.codec import encode_into, encode_values_into
from firmware.protocol.frame import FrameWriter

if TYPE_CHECKING:
    from firmware.compat import array
    from firmware.core.contract import Board
    from firmware.protocol.codec import Message


class Outbox:
    def __init__(self, board: "Board", crc_table: "array[int]") -> None:
        self.unsent = 0
        self._board = board
        self._writer = FrameWriter(crc_table)
        self.payload = self._writer.payload

    def send(self, message: "Message") -> bool:
        return self.post(encode_into(message, self.payload))

    def send_values(self, message: "Message") -> bool:
        """Send a message of which ``values`` were filled, not the attributes: in half the time."""
        return self.post(encode_values_into(message, self.payload))

    @micropython.native
    def post(self, payload_size: int) -> bool:
        """Frame what is in ``payload`` and send it; count it and return False without room."""
        writer = self._writer
        size = writer.wrap(payload_size)
        if self._board.transmit(writer.out, size):
            return True
        self.unsent += 1
        return False
