"""The protocol's version: a hash of its table and its codes, which nobody can forget to raise.

``tandem flash`` makes it on the host.
"""

from firmware.compat import TYPE_CHECKING
from firmware.protocol import codes
from firmware.protocol.boxes import BOXES
from firmware.protocol.frame import CRC_SIZE, crc_update
from firmware.protocol.messages import TO_BOARD, TO_HOST
from firmware.protocol.plant import PLANT

if TYPE_CHECKING:
    from firmware.compat import array


def _carry(crc: bytearray, text: str, table: "array[int]") -> None:
    data = bytearray(text.encode())
    crc_update(crc, data, 0, len(data), table)


def protocol_hash(table: "array[int]") -> bytearray:
    """Return the CRC-32 over every message and field in order, then every code by name; 4 bytes.

    Run once, at start-up.
    """
    crc = bytearray(CRC_SIZE)
    for messages in (TO_BOARD, TO_HOST, PLANT, BOXES):
        for message in messages:
            _carry(crc, "%s %d;" % (message.__name__, message.ID), table)
            for field in message.FIELDS:
                _carry(crc, "%s %s %d %d %s," % field, table)
    for name in sorted(dir(codes)):  # in an order that does not depend on who runs it
        code = getattr(codes, name)
        if isinstance(code, int):
            _carry(crc, "%s %d;" % (name, code), table)
    return crc
