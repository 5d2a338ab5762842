"""Checks of the parameters' values, and the image of them that a board stores.

An image is the hash of the parameters' table, the values, the car's name, and a CRC over these.
"""

from firmware.compat import TYPE_CHECKING, array
from firmware.core.settings.configuration import NAME_SIZE, draft, drafted
from firmware.core.settings.params import (
    BLIND_MAX_MM,
    CHANNEL_BRAKE,
    CHANNEL_ESC,
    CHANNELS,
    HUMAN_STOP_SOURCES,
    SOURCES,
    STOP_SOURCES,
    TABLE,
    Params,
)
from firmware.core.settings.table_hash import table_hash
from firmware.protocol.codec import read_int, write_int
from firmware.protocol.frame import CRC_SIZE, crc_update

if TYPE_CHECKING:
    from firmware.core.settings.configuration import Configuration


class CheckedParams(Params):
    """Parameters that can be checked, hashed, written to an image and read from one."""

    def __init__(self, crc_table: "array[int]", held: "Configuration | None" = None) -> None:
        super().__init__(held)
        self.table_hash = table_hash(TABLE, crc_table)
        self._crc_table = crc_table
        self._word = bytearray(4)
        # Of each row, in small blocks; a write may take nothing from the heap, and rows would
        rows = len(self._names)
        self._lows = array("i", bytes(4 * rows))
        self._highs = array("i", bytes(4 * rows))
        row = 0
        for _name, _unit, _many, low, high, _default in TABLE:
            self._lows[row] = low
            self._highs[row] = high
            row += 1

    def is_in_range(self, index: int, value: int) -> bool:
        row = 0
        while self._starts[row + 1] <= index:
            row += 1
        return self._lows[row] <= value <= self._highs[row]

    def hash_into(self, crc: bytearray) -> None:
        """Write the CRC-32 over the table's hash, all values and the car's name; no allocation."""
        word = self._word
        for i in range(CRC_SIZE):
            crc[i] = 0
        crc_update(crc, self.table_hash, 0, CRC_SIZE, self._crc_table)
        for i in range(self.size):
            write_int(word, 0, 4, self.values[i])
            crc_update(crc, word, 0, 4, self._crc_table)
        crc_update(crc, self.car_name, 0, NAME_SIZE, self._crc_table)

    def first_wrong(self) -> int:
        """Return the index of the first value that is out of range or inconsistent, or -1."""
        for row in range(len(self._lows)):
            for i in range(self._starts[row], self._starts[row + 1]):
                if not self._lows[row] <= self.values[i] <= self._highs[row]:
                    return i
        return self._first_inconsistent()

    def _first_inconsistent(self) -> int:
        cap_at = self.index("source_cap_mm_s")
        lease_at = self.index("source_lease_ms")
        blind_um = self.get("blind_mm") * 1000
        for i in range(SOURCES):  # what is driven blind: lease times cap
            if self.values[lease_at + i] * self.values[cap_at + i] > blind_um:
                return cap_at + i
        low_at = self.index("channel_low")
        for i in range(low_at, low_at + CHANNELS):
            if not self.values[i] <= self.values[i + CHANNELS] <= self.values[i + 2 * CHANNELS]:
                return i
        return -1

    def first_unsafe(self, is_virtual: int) -> int:
        """Return the index of the first value that no car may have, whoever wrote it, or -1.

        Refused is a car that may be driven blind too far, that nobody can stop, or that has nothing
        to brake with; and one that is braked before it is cut where that was not measured or cannot
        be.
        """
        values = self.values
        at = self.index("blind_mm")
        # twice the wheelbase, in mm
        if values[at] > min(self.get("wheelbase_um") // 500, BLIND_MAX_MM):
            return at
        at = self._unstoppable()
        if at >= 0:
            return at
        kinds = self.get_all("channel_kind")
        at = self.index("loop_brake_ms")  # no real runstop circuit has an off-delay yet
        may_brake = is_virtual and CHANNEL_ESC in kinds and self.get("encoder_signed")
        if values[at] and not may_brake:
            return at
        at = self.index("brake_effort_max")
        has_brake = values[at] or CHANNEL_BRAKE in kinds
        return at if CHANNEL_ESC in kinds and not has_brake else -1

    def _unstoppable(self) -> int:
        """Return the needs' index of an offered profile in which no person can stop it, or -1."""
        kinds = self.index("stop_source_kind")
        needs = self.index("stop_source_need")
        for cap in self.get_all("profile_cap_mm_s"):
            is_free = True
            for i in HUMAN_STOP_SOURCES:
                is_free = is_free and not (self.values[kinds + i] and self.values[needs + i])
            if cap and is_free:
                return needs
            needs += STOP_SOURCES
        return -1

    def image_size(self) -> int:
        return CRC_SIZE + 4 * self.size + NAME_SIZE + CRC_SIZE

    def image_of(self, pieces: "list[bytearray]") -> "list[bytearray]":
        """Return the image that has a draft's values, in pieces."""
        return [self.table_hash] + pieces + [self.car_name, self.config_hash]

    def write_image(self, image: bytearray) -> int:
        """Write table hash, values, car name and config hash; return the size."""
        self.hash_into(self.config_hash)
        image[:CRC_SIZE] = self.table_hash
        at = CRC_SIZE
        for value in self.values:
            write_int(image, at, 4, value)
            at += 4
        image[at : at + NAME_SIZE] = self.car_name
        at += NAME_SIZE
        image[at : at + CRC_SIZE] = self.config_hash
        return at + CRC_SIZE

    def swap_draft(self, pieces: "list[bytearray]") -> None:
        """Exchange the values with a draft's; takes nothing from the heap."""
        for i in range(self.size):
            value = self.values[i]
            self.values[i] = drafted(pieces, i)
            draft(pieces, i, value)

    def read_image(self, image: bytearray) -> bool:
        """Take the values of a stored image; return False if it has another table or is damaged."""
        if len(image) != self.image_size() or image[:CRC_SIZE] != self.table_hash:
            return False
        end = len(image) - CRC_SIZE
        crc = bytearray(CRC_SIZE)
        crc_update(crc, image, 0, end, self._crc_table)
        if crc != image[end:]:
            return False
        for i in range(self.size):
            self.values[i] = read_int(image, CRC_SIZE + 4 * i, 4, 1)
        self.car_name[:] = image[end - NAME_SIZE : end]
        self.config_hash[:] = crc
        return True
