"""The way into hardware in the loop; apart from ``plant``, which only a board in it has to load."""

from firmware.protocol.codec import Message


class EnterHitl(Message):
    """Let this very board, if it is not armed, have a plant for its peripherals until reset."""

    ID = 25
    FIELDS = (("board_id", "b8", 0, 0, ""),)
    board_id: bytearray
