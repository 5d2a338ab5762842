"""What every IMU on I2C does: one burst of bytes, three axes of each kind, signs of life."""

from firmware.compat import TYPE_CHECKING
from firmware.drivers.stillness import Stillness
from firmware.drivers.ticks import Freshness

if TYPE_CHECKING:
    from machine import I2C

    from firmware.drivers.mounting import Mounting

_FROZEN_AFTER = 50  # readings: a quarter to half a second


class I2cImu:
    """``step`` at 100 Hz and more; ``hearing`` is fresh within ``silence_us`` of a reading that
    came and was alive. ``errors`` counts failed readings. Left turns and forward are positive."""

    def __init__(
        self,
        i2c: "I2C",
        address: int,
        mounting: "Mounting",
        silence_us: int,
        first_register: int,
        size: int,
    ) -> None:
        self.i2c = i2c
        self.address = address
        self.mounting = mounting
        self.data = bytearray(size)
        self.hearing = Freshness(silence_us)
        self.errors = 0
        self.yaw_rate_mrad_s = 0
        self.accel_x_mm_s2 = 0
        self.accel_y_mm_s2 = 0
        self._first_register = first_register
        self._stillness = Stillness(size, _FROZEN_AFTER)

    @property
    def is_frozen(self) -> bool:
        return self._stillness.is_frozen

    def take(self) -> None:
        """Make values of ``data``."""
        raise NotImplementedError

    def step(self, now_us: int) -> None:
        try:
            self.i2c.readfrom_mem_into(self.address, self._first_register, self.data)
        except OSError:
            self.errors += 1
        else:
            self._stillness.take(self.data)
            self.take()
            if not self._stillness.is_frozen:
                self.hearing.hear(now_us)
        self.hearing.step(now_us)

    def axes(self, at: int, low: int) -> None:
        """Three words from ``data[at]`` into the mounting; ``low`` is which byte is the lower."""
        data = self.data
        for i in range(3):
            word = data[at + 2 * i + low] | data[at + 2 * i + 1 - low] << 8
            self.mounting.raw[i] = word - 0x10000 if word & 0x8000 else word

    def register(self, register: int) -> int:
        return self.i2c.readfrom_mem(self.address, register, 1)[0]

    def set_register(self, register: int, value: int) -> None:
        self.i2c.writeto_mem(self.address, register, bytes((value,)))
