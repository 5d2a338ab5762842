"""The configuration that a car needs while it drives: its values, and a draft of others.

What writes, judges or stores one is in ``writing.py``, and not in memory while the car drives
(overlay.py); nor is the table of the parameters, which is needed only to configure (params.py).
"""

from firmware.compat import TYPE_CHECKING
from firmware.protocol.codec import read_int, write_int
from firmware.protocol.codes import PARAMETER_OK, PARAMETER_UNKNOWN
from firmware.protocol.frame import CRC_SIZE

if TYPE_CHECKING:
    from firmware.protocol.messages import Parameter, ParameterRead

NAME_SIZE = 16  # bytes, as the fields of messages that hold a car's name


def draft(image: bytearray, index: int, value: int) -> None:
    """Put a value in its place in an image."""
    write_int(image, CRC_SIZE + 4 * index, 4, value)


def drafted(image: bytearray, index: int) -> int:
    return read_int(image, CRC_SIZE + 4 * index, 4, 1)


def image_size(size: int) -> int:
    """Return the size of an image of so many values: table hash, values, name, their CRC."""
    return CRC_SIZE + 4 * size + NAME_SIZE + CRC_SIZE


class Configuration:
    """The values of the configuration, in the order of the parameters' table, and perhaps a draft.

    The table puts its defaults in ``values``. ``draft`` is an image of other values; None while
    there is nothing in it but these.
    """

    def __init__(self) -> None:
        self.is_valid = False
        self.is_ours = False
        self.values: "list[int]" = []
        self.car_name = bytearray(NAME_SIZE)
        self.config_hash = bytearray(CRC_SIZE)
        self.draft: "bytearray | None" = None

    def open_draft(self) -> bytearray:
        """Begin a draft of these values and return it: the largest block that a write takes."""
        values = self.values
        image = bytearray(image_size(len(values)))
        for i in range(len(values)):
            draft(image, i, values[i])
        self.draft = image
        return image

    def read(self, request: "ParameterRead", reply: "Parameter") -> None:
        index = request.index
        reply.index = index
        reply.value = 0
        reply.result = PARAMETER_UNKNOWN
        if index < len(self.values):
            image = self.draft
            reply.value = drafted(image, index) if image else self.values[index]
            reply.result = PARAMETER_OK
