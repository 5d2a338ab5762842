"""A battery's voltage and current by an INA219 or INA226 over I2C.

Registers are two bytes, high byte first. Scales from the datasheets: INA219 4 mV (three low bits
are flags) and 10 uV; INA226 1.25 mV and 2.5 uV. Current is positive while the pack is discharged.
"""

from firmware.compat import TYPE_CHECKING
from firmware.drivers.ticks import SILENCE_US, Freshness

if TYPE_CHECKING:
    from typing import Any

    from machine import I2C

CONFIG = 0x00
SHUNT = 0x01
BUS = 0x02

# config (continuous, averaged), bits below the voltage, its 10 uV per count, shunt's 0.1 uV
INA219 = (0x3DDF, 3, 400, 100)  # 32 V, 320 mV, 8 samples
INA226 = (0x4527, 0, 125, 25)  # 16 samples of 1.1 ms
_CHARGING_MA = 50  # into the pack: more than an offset


class BatteryIna:
    """A battery's voltage and current by an INA219 or INA226.

    ``kind`` is ``INA219`` or ``INA226``; ``shunt_mohm`` at least 1. Raises OSError if nobody
    answers, ValueError if the part does not keep its configuration. After failed readings
    ``freshness`` ends within ``silence_us``.
    """

    def __init__(
        self,
        i2c: "I2C",
        address: int,
        kind: "tuple[int, int, int, int]",
        shunt_mohm: int,
        silence_us: int,
    ) -> None:
        if shunt_mohm < 1:
            raise ValueError("the shunt has at least 1 mOhm; correct the board file")
        self._i2c = i2c
        self._address = address
        self._kind = kind
        self._shunt_mohm = shunt_mohm
        self._word = bytearray(2)
        self.freshness = Freshness(silence_us)
        self.errors = 0
        self.mv = 0
        self.current_ma = 0
        self.is_charging = False
        self.configure()

    def configure(self) -> None:
        config = self._kind[0]
        self._i2c.writeto_mem(self._address, CONFIG, bytes((config >> 8, config & 0xFF)))
        if self._register(CONFIG) != config:
            raise ValueError("INA: it did not keep its configuration; is it the other kind?")

    def step(self, now_us: int) -> None:
        _, flags, bus_10uv, shunt_100nv = self._kind
        try:
            self.mv = (self._register(BUS) >> flags) * bus_10uv // 100
            shunt = self._register(SHUNT)
        except OSError:
            self.errors += 1
        else:
            shunt -= (shunt & 0x8000) << 1
            self.current_ma = shunt * shunt_100nv // (10 * self._shunt_mohm)
            self.is_charging = self.current_ma < -_CHARGING_MA
            self.freshness.hear(now_us)
        self.freshness.step(now_us)

    def _register(self, register: int) -> int:
        self._i2c.readfrom_mem_into(self._address, register, self._word)
        return self._word[0] << 8 | self._word[1]


def make(row: "tuple[Any, ...]", i2c: "I2C", adc: "Any", input_low: "Any") -> "BatteryIna | None":
    """Make the driver from its row of the pins module; return None if the part does not answer.

    The row has its name, address, mOhm, which chip.
    """
    try:
        # its row says which of the two
        return BatteryIna(i2c, row[1], INA219 if row[3] == 219 else INA226, row[2], SILENCE_US)
    except (OSError, ValueError):
        return None
