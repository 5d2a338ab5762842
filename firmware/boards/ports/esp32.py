"""The ESP32-S3's board. It has no hard interrupts: its guard sees a slow program, not a hung one.

What a hung program leaves put out is ended by the watchdog, after a second, and before that by the
runstop, which has to cut the power in hardware. The life signal ends with the program, because its
timer is soft.
"""

import machine
from machine import Pin, Timer

from firmware.boards.physical.board import PhysicalBoard
from firmware.boards.physical.guard_timer import TICK_HZ
from firmware.boards.physical.parts import listen, output
from firmware.compat import TYPE_CHECKING
from firmware.drivers.outputs.toggled_life import ToggledLife
from firmware.drivers.wheels.polled_counter import PolledCounter

if TYPE_CHECKING:
    from typing import Any

    from firmware.boards.physical.guard_timer import EnableSignal
    from firmware.boards.physical.wheels import Counter


class Esp32Board(PhysicalBoard):
    watchdog_ms = 1_000  # no less is taken there

    def _own_counter(self, row: "tuple[Any, ...]") -> "Counter":
        if row[1] != "counter":
            return super()._own_counter(row)
        _, _, number, a_line, b_line = row
        lines = (Pin(a_line, Pin.IN, Pin.PULL_UP), Pin(b_line, Pin.IN, Pin.PULL_UP))
        port: "Any" = machine  # only this port has it
        return PolledCounter(port.Encoder(number, *lines, phases=4).value)

    def _life(self, row: "tuple[Any, ...]") -> "EnableSignal":
        return ToggledLife(output(row[1]))

    def _begin_guard(self) -> None:
        listen(self.loop_pin, self._guard_timer.on_edge, Pin.IRQ_RISING | Pin.IRQ_FALLING)
        self._timer = Timer(0, freq=TICK_HZ, callback=self._guard_timer.on_timer)
