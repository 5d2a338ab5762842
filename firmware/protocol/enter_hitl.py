"""The entry to hardware in the loop, apart from ``plant``, which only a board in it loads."""

from firmware.protocol.codec import Message


class EnterHitl(Message):
    """The request to this very board, if not armed, to have a plant as peripherals until reset."""

    ID = 25
    FIELDS = (("board_id", "b8", 0, 0, ""),)
    board_id: bytearray
