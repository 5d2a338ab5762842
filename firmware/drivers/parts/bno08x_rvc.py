"""BNO080/BNO085 in its RVC mode: 19 bytes at 115200 baud, a hundred times a second.

    AA AA, index, yaw, pitch, roll (0.01 degree), accelerations x y z (mg), three spare, sum

Words have their low byte first; the sum is that of all bytes after the two AA. It tells no rate:
the yaw rate is the difference of two yaws over as many hundredths as their indices differ.
"""

from firmware.compat import TYPE_CHECKING
from firmware.drivers.frame_window import FrameWindow
from firmware.drivers.parts.mounting import Mounting
from firmware.drivers.ticks import SILENCE_US, Freshness

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from machine import UART

# Bytes of a frame, how it begins, and where its accelerations are: see above
FRAME_SIZE = 19
START = 0xAA
_ACCEL_AT = 9
_TURN = 36_000  # in 0.01 degree
_MOST_MISSED = 10  # frames, over which a rate still means something
_MOST_CHANGE = 6000  # in 0.01 degree: times the scale it is still a small int
_RATE_SCALE = 174_533  # 0.01 degree in 0.01 s is 17.4533 mrad/s
_ONE = 10_000  # of the scale's unit, 0.0001 mrad/s


class Bno08xRvc(FrameWindow):
    """A BNO080 or BNO085 in RVC mode, on the UART that ``step`` reads.

    ``freshness`` is fresh within ``silence_us`` of a frame. The sensor's z axis must be the car's
    vertical one, since only yaw is told.
    """

    def __init__(self, uart: "UART", mounting: Mounting, silence_us: int) -> None:
        super().__init__(FRAME_SIZE)
        if abs(mounting.up) != 3:
            raise ValueError("an RVC sensor lies flat or on its head; correct the mounting")
        self._uart = uart
        self._mounting = mounting
        self.freshness = Freshness(silence_us)
        self.yaw_rate_mrad_s = 0
        self.accel_x_mm_s2 = 0
        self.accel_y_mm_s2 = 0
        self._yaw = 0
        self._index = -1
        self._now_us = 0

    def step(self, now_us: int) -> None:
        self._now_us = now_us
        self.read(self._uart)
        self.freshness.step(now_us)

    def span(self) -> int:
        if self.window[0] != START or (self.size > 1 and self.window[1] != START):
            return -1
        return FRAME_SIZE

    def take(self) -> bool:
        total = 0
        for i in range(2, FRAME_SIZE - 1):
            total += self.window[i]
        if total & 0xFF != self.window[FRAME_SIZE - 1]:
            return False
        self._take_yaw(self._word(3))
        self._take_accelerations()
        self.freshness.hear(self._now_us)
        return True

    def _take_yaw(self, yaw: int) -> None:
        passed = self.window[2] - self._index & 0xFF
        if self._index >= 0 and 0 < passed <= _MOST_MISSED:
            change = (yaw - self._yaw + _TURN // 2) % _TURN - _TURN // 2
            change = max(-_MOST_CHANGE, min(_MOST_CHANGE, change))
            rate = (change * _RATE_SCALE // passed + _ONE // 2) // _ONE
            self.yaw_rate_mrad_s = rate if self._mounting.up > 0 else -rate
        self._yaw = yaw
        self._index = self.window[2]

    def _take_accelerations(self) -> None:
        mounting = self._mounting
        for i in range(3):
            mounting.raw[i] = self._word(_ACCEL_AT + 2 * i)
        # mg into mm/s^2
        self.accel_x_mm_s2 = mounting.along(mounting.forward) * 9807 // 1000
        self.accel_y_mm_s2 = mounting.along(mounting.left) * 9807 // 1000

    def _word(self, at: int) -> int:
        value = self.window[at] | self.window[at + 1] << 8
        return value - 0x10000 if value & 0x8000 else value


def make(
    row: "tuple[Any, ...]", i2c: "Any", make_uart: "Callable[[Any, str], UART]", pins: "Any"
) -> Bno08xRvc:
    """Make the driver from its row of the pins module: name, mounting."""
    return Bno08xRvc(make_uart(pins, "imu"), Mounting(*row[1]), SILENCE_US)
