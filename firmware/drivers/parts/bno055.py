"""BNO055 over I2C: yaw rate and acceleration, at 100 Hz in its IMU fusion mode.

Registers and scales from the datasheet: m/s2 in 1/100, rad/s in 1/900, low byte first. It stretches
the clock of the bus, which some ports do not bear.
"""

from time import sleep_ms

from firmware.compat import TYPE_CHECKING
from firmware.drivers.parts.i2c_imu import I2cImu
from firmware.drivers.parts.mounting import Mounting
from firmware.drivers.ticks import SILENCE_US

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from machine import I2C

ADDRESS = 0x28  # 0x29 with COM3 high
CHIP_ID = 0x00
IDENTITY = 0xA0  # of its chip, in that register
DATA = 0x08  # acceleration, then the magnetometer, then the gyroscope
_SIZE = 18  # bytes: nine words
_ACCELS = (0, 0, 10, 0, 1)  # where x, y and z begin, times, plus and over: 0.01 m/s^2
_RATES = (12, 0, 10, 4, 9)  # the same of the gyroscope: 1/900 rad/s
UNITS = 0x3B  # a register: which units it puts out
_RAD_AND_MS2 = 0x02
MODE = 0x3D  # a register: its mode
MODE_CONFIG = 0x00
MODE_IMU = 0x08  # gyroscope and accelerometer, fused
_SWITCH_MS = 20  # 7 ms and 19 ms, to and from the configuration


class Bno055(I2cImu):
    """A BNO055 in its IMU mode.

    Raises OSError if nobody answers, ValueError if it is another part or does not enter its mode.
    """

    def __init__(
        self,
        i2c: "I2C",
        address: int,
        mounting: "Mounting",
        silence_us: int,
        sleep_ms: "Callable[[int], None]",
    ) -> None:
        super().__init__(i2c, address, mounting, silence_us, DATA, _SIZE, _ACCELS, _RATES)
        self.configure(sleep_ms)

    def configure(self, sleep_ms: "Callable[[int], None]") -> None:
        identity = self.register(CHIP_ID)
        if identity != IDENTITY:
            raise ValueError(f"no BNO055 here: it says {identity:#x}; check the board file")
        for register, value in ((MODE, MODE_CONFIG), (UNITS, _RAD_AND_MS2), (MODE, MODE_IMU)):
            self.set_register(register, value)
            sleep_ms(_SWITCH_MS)
        if self.register(MODE) != MODE_IMU:
            raise ValueError("BNO055: it did not enter its IMU mode; power it anew")


def make(row: "tuple[Any, ...]", i2c: "I2C", make_uart: "Any", pins: "Any") -> Bno055:
    """Make the driver from its row of the pins module: name, address, mounting."""
    return Bno055(i2c, row[1], Mounting(*row[2]), SILENCE_US, sleep_ms)
