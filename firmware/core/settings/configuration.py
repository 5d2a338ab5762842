"""The configuration that a car needs while it drives: its values, and a draft of others.

What writes, judges or stores one is in ``writing.py``, and not in memory while the car drives
(overlay.py); nor is the table of the parameters, which is needed only to configure (params.py).
"""

from firmware.compat import TYPE_CHECKING, micropython
from firmware.protocol.codec import read_int, write_int
from firmware.protocol.codes import PARAMETER_OK, PARAMETER_UNKNOWN
from firmware.protocol.frame import CRC_SIZE

if TYPE_CHECKING:
    from firmware.protocol.messages import Parameter, ParameterRead

const = micropython.const
NAME_SIZE = 16  # bytes, as the fields of messages that hold a car's name
# Of a draft: 128 bytes, for which every heap has a place; one for all would be the largest block
# that a parked car takes
VALUES_A_PIECE = const(32)


def draft(pieces: "list[bytearray]", index: int, value: int) -> None:
    """Put a value in its place in a draft."""
    write_int(pieces[index // VALUES_A_PIECE], 4 * (index % VALUES_A_PIECE), 4, value)


def drafted(pieces: "list[bytearray]", index: int) -> int:
    return read_int(pieces[index // VALUES_A_PIECE], 4 * (index % VALUES_A_PIECE), 4, 1)


class Configuration:
    """The values of the configuration, in the order of the parameters' table, and perhaps a draft.

    The table puts its defaults in ``values``. ``draft`` has others, in pieces of an image; it is
    None while there is nothing in it but these.
    """

    def __init__(self) -> None:
        self.is_valid = False
        self.is_ours = False
        self.values: "list[int]" = []
        self.car_name = bytearray(NAME_SIZE)
        self.config_hash = bytearray(CRC_SIZE)
        self.draft: "list[bytearray] | None" = None

    def open_draft(self) -> "list[bytearray]":
        """Begin a draft of these values and return it."""
        values = self.values
        many = len(values)
        pieces: "list[bytearray]" = []
        for at in range(0, many, VALUES_A_PIECE):
            pieces.append(bytearray(4 * min(VALUES_A_PIECE, many - at)))
        for i in range(many):
            draft(pieces, i, values[i])
        self.draft = pieces
        return pieces

    def read(self, request: "ParameterRead", reply: "Parameter") -> None:
        index = request.index
        reply.index = index
        reply.value = 0
        reply.result = PARAMETER_UNKNOWN
        if index < len(self.values):
            pieces = self.draft
            reply.value = drafted(pieces, index) if pieces else self.values[index]
            reply.result = PARAMETER_OK
