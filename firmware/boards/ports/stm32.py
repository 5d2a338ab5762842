"""The STM32's board: encoders and a hard timer in hardware; a pulse does not expire by itself.

Needs MicroPython 1.28, the first whose STM32 port has ``machine.PWM``. With interrupts off an ESC's
last pulse goes on until the watchdog's reset; the enable's life signal ends at once, because the
guard's timer makes it.
"""

import pyb  # type: ignore[import-not-found]
from machine import Pin

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

_GUARD_TIMER = 6  # has no pins


class Stm32Board(PhysicalBoard):
    def _own_counter(self, row: "tuple[Any, ...]") -> "Counter":
        if row[1] != "timer":
            return super()._own_counter(row)
        _, _, number, a_line, b_line = row
        timer = pyb.Timer(number, prescaler=0, period=0xFFFF)
        timer.channel(1, pyb.Timer.ENC_AB, pin=pyb.Pin(a_line))
        timer.channel(2, pyb.Timer.ENC_AB, pin=pyb.Pin(b_line))
        return PolledCounter(timer.counter)

    def _life(self, row: "tuple[Any, ...]") -> "EnableSignal":
        return ToggledLife(output(row[1]))

    def _begin_guard(self) -> None:
        listen(self.loop_pin, self._guard_timer.on_edge, Pin.IRQ_RISING | Pin.IRQ_FALLING)
        self._timer = pyb.Timer(_GUARD_TIMER, freq=TICK_HZ, callback=self._guard_timer.on_timer)
