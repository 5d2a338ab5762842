"""The version of the parameters: a hash of their table, made on the host by ``tandem flash``."""

from firmware.compat import TYPE_CHECKING
from firmware.protocol.frame import CRC_SIZE, crc_update

if TYPE_CHECKING:
    from firmware.compat import array

    Row = tuple[str, str, int, int, int, int]


def table_hash(rows: "tuple[Row, ...]", crc_table: "array[int]") -> bytearray:
    """Return the CRC-32 over every row in order, 4 bytes. Run once, at start-up."""
    crc = bytearray(CRC_SIZE)
    for row in rows:
        text = bytearray(("%s %s %d %d %d %d," % row).encode())
        crc_update(crc, text, 0, len(text), crc_table)
    return crc
