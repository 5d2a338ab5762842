"""The base of all IMUs on I2C: one burst of bytes, three axes of each kind, a freeze check."""

from firmware.compat import TYPE_CHECKING, array, micropython, ptr8, ptr16, ptr32
from firmware.drivers.parts.stillness import Stillness
from firmware.drivers.ticks import Freshness

if TYPE_CHECKING:
    from machine import I2C

    from firmware.drivers.parts.mounting import Mounting

const = micropython.const

_FROZEN_AFTER = const(50)  # readings: a quarter to half a second


@micropython.viper
def _take(data: ptr8, rows: ptr16, out: ptr32) -> int:
    """Convert each reading along an axis of the car, by its row.

    A row has the index of the high byte and of the low one, 1 if the sensor's axis points the other
    way, then times, plus and over.
    """
    i = 0
    row = 0
    while i < 3:
        word = data[rows[row]] << 8 | data[rows[row + 1]]
        if word & 0x8000:
            word -= 0x10000
        if rows[row + 2]:
            word = 0 - word
        # rows of six entries, see above
        out[i] = (word * rows[row + 3] + rows[row + 4]) // rows[row + 5]
        row += 6  # rows of six entries
        i += 1
    return 0  # viper wants a word, or no annotation


class I2cImu:
    """An IMU on I2C; call ``step`` at 100 Hz and more.

    ``freshness`` is fresh within ``silence_us`` of a reading that came and was alive. ``errors``
    counts failed readings. Left turns and forward are positive.

    ``accels`` and ``rates``: where in the data x is (y and z follow, two bytes each), which of its
    bytes is the lower, and what makes the unit of it: times, plus, over (all below 2**16).
    """

    def __init__(
        self,
        i2c: "I2C",
        address: int,
        mounting: "Mounting",
        silence_us: int,
        first_register: int,
        size: int,
        accels: "tuple[int, int, int, int, int]",
        rates: "tuple[int, int, int, int, int]",
    ) -> None:
        self.i2c = i2c
        self.address = address
        self.data = bytearray(size)
        self.freshness = Freshness(silence_us)
        self.errors = 0
        self.yaw_rate_mrad_s = 0
        self.accel_x_mm_s2 = 0
        self.accel_y_mm_s2 = 0
        self._first_register = first_register
        self._stillness = Stillness(size, _FROZEN_AFTER)
        self._rows = _rows_of(mounting, accels, rates)
        self._taken = array("i", [0] * 3)

    @property
    def is_frozen(self) -> bool:
        return self._stillness.is_frozen

    @micropython.native
    def step(self, now_us: int) -> None:
        """Read one burst and convert it by the table made of mounting and units at the start."""
        try:
            self.i2c.readfrom_mem_into(self.address, self._first_register, self.data)
        except OSError:
            self.errors += 1
            self.freshness.step(now_us)
            return
        data, taken, stillness = self.data, self._taken, self._stillness
        _take(data, self._rows, taken)
        self.accel_x_mm_s2 = taken[0]
        self.accel_y_mm_s2 = taken[1]
        self.yaw_rate_mrad_s = taken[2]
        stillness.take(data)
        if stillness.is_frozen:
            self.freshness.step(now_us)
        else:
            self.freshness.hear(now_us)

    def register(self, register: int) -> int:
        return self.i2c.readfrom_mem(self.address, register, 1)[0]

    def set_register(self, register: int, value: int) -> None:
        self.i2c.writeto_mem(self.address, register, bytes((value,)))


def _rows_of(
    mounting: "Mounting",
    accels: "tuple[int, int, int, int, int]",
    rates: "tuple[int, int, int, int, int]",
) -> "array[int]":
    """Return the rows for ``_take``: forward, left, the turn to the left."""
    rows: "list[int]" = []
    for axis, told in ((mounting.forward, accels), (mounting.left, accels), (mounting.up, rates)):
        first, low, times, plus, over = told
        at = first + 2 * (abs(axis) - 1)
        rows += [at + 1 - low, at + low, int(axis < 0), times, plus, over]
    return array("H", rows)
