"""MPU-6050 and its kin (6500, 9250, 9255) over I2C: yaw rate and acceleration.

Registers, identities and sensitivities from the product specification and register map. Set to
1000 degrees/s (32.8 per degree/s), 8 g (4096 per g), 200 Hz, low pass at 42 Hz (delay 5 ms).
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

ADDRESS = 0x68  # 0x69 with AD0 high
WHO_AM_I = 0x75  # register: which chip it is
IDENTITIES = (0x68, 0x70, 0x71, 0x73)  # 6050, 6500, 9250, 9255
POWER = 0x6B  # register: sleep, reset and clock
_RESET = 0x80  # bit of it: all registers as after power-up
_RESET_MS = 100  # register map: the reset takes up to 100 ms
# register, value: clock from the gyroscope, rate 1 kHz / (1 + 4), low pass, ranges
SETTINGS = ((POWER, 0x01), (0x19, 4), (0x1A, 3), (0x1B, 0x10), (0x1C, 0x10))
ACCEL = 0x3B  # then temperature, then the gyroscope: 14 bytes, high byte first
_SIZE = 14
# (1/32.8) degree/s is 0.53211 mrad/s; (1/4096) g is 2.39420 mm/s2, times 32768 within 30 bits
_ACCELS = (0, 1, 23_942, 5_000, 10_000)
_RATES = (8, 1, 5_321, 5_000, 10_000)


class Mpu(I2cImu):
    """An MPU-6050 or one of its kin.

    Raises OSError if nobody answers, ValueError if it is another part or does not keep its
    settings.
    """

    def __init__(
        self,
        i2c: "I2C",
        address: int,
        mounting: "Mounting",
        silence_us: int,
        sleep_ms: "Callable[[int], None]",
    ) -> None:
        super().__init__(i2c, address, mounting, silence_us, ACCEL, _SIZE, _ACCELS, _RATES)
        self.configure(sleep_ms)

    def configure(self, sleep_ms: "Callable[[int], None]") -> None:
        identity = self.register(WHO_AM_I)
        if identity not in IDENTITIES:
            raise ValueError(f"no MPU at this address: it says {identity:#x}; check the board file")
        self.set_register(POWER, _RESET)
        sleep_ms(_RESET_MS)
        for register, value in SETTINGS:
            self.set_register(register, value)
        for register, value in SETTINGS:
            if self.register(register) != value:
                raise ValueError(f"MPU: register {register:#x} is not {value:#x}; power it anew")


def make(row: "tuple[Any, ...]", i2c: "I2C", make_uart: "Any", pins: "Any") -> Mpu:
    """Make the driver from its row of the pins module: name, address, mounting."""
    return Mpu(i2c, row[1], Mounting(*row[2]), SILENCE_US, sleep_ms)
