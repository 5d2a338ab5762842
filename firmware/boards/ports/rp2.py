"""The RP2040's and RP2350's board: pulses end unaided, hardware counts edges, a hard timer."""

import rp2
from machine import ADC, Pin, Timer, mem32

from firmware.boards.physical.board import PhysicalBoard
from firmware.boards.physical.parts import listen
from firmware.compat import TYPE_CHECKING
from firmware.core.stops.guard import RATE_LIMITED_HZ
from firmware.drivers.outputs import rp2_life_signal
from firmware.drivers.outputs.rp2_life_signal import LifeSignal

if TYPE_CHECKING:
    from typing import Any

    from firmware.boards.link import Link
    from firmware.boards.physical.channels import Channel
    from firmware.boards.physical.guard_timer import EnableSignal
    from firmware.boards.physical.wheels import Counter
    from firmware.boards.store import Store
    from firmware.core.contract import Pins, Starts
    from firmware.drivers.ticks import TicksUs

# Interrupts have a priority byte each, by number: 0x80 at reset, a lower one is served first
_PRIORITIES = 0xE000_E400
_PINS_PRIORITY = 0x40
_CHIP_ID = 0x4000_0000
_PINS_INTERRUPT = ((2, 13), (4, 21))  # RP2040, RP2350: part, number
_LIFE_US = 20_000  # how long the enable holds without the guard's timer
# RP2040 datasheet 4.9.5: 706 mV at 27 degrees, 1.721 mV less for each more; 3.3 V reference
_UV_PER_100_COUNTS = 5035  # of 16 bits
_AT_27_C_UV = 706_000
_UV_PER_C = 1721


class Rp2Board(PhysicalBoard):
    def __init__(
        self, pins: "Pins", starts: "Starts", link: "Link", store: "Store", ticks_us: "TicksUs"
    ) -> None:
        for number, first in pins.PIO_BASES:
            pio: "Any" = rp2.PIO(number)  # the stubs do not know it: only an RP2350B has bases
            pio.gpio_base(Pin(first))
        self._thermometer = ADC(ADC.CORE_TEMP)
        super().__init__(pins, starts, link, store, ticks_us)

    def _own_channel(self, row: "tuple[Any, ...]") -> "Channel":
        if row[0] != "pio_pulse":
            return super()._own_channel(row)
        from firmware.boards.ports.rp2_channel import PulseByPio

        return PulseByPio(self.loop_pin, *row[1:])

    def _own_counter(self, row: "tuple[Any, ...]") -> "Counter":
        if row[1] != "pio_quadrature":
            return super()._own_counter(row)
        from firmware.drivers.wheels.rp2_quadrature import QuadratureCounter, quadrature

        first, state_machine = row[2], row[3]
        a_line = Pin(first, Pin.IN, Pin.PULL_UP)
        Pin(first + 1, Pin.IN, Pin.PULL_UP)
        return QuadratureCounter(rp2.StateMachine(state_machine, quadrature, in_base=a_line))

    def _life(self, row: "tuple[Any, ...]") -> "EnableSignal":
        _, number, state_machine = row
        machine_of_it = rp2.StateMachine(
            state_machine,
            rp2_life_signal.life_signal,
            freq=rp2_life_signal.FREQ_HZ,
            set_base=Pin(number),
            jmp_pin=self.loop_pin,
        )
        return LifeSignal(machine_of_it, _LIFE_US)

    def _begin_guard(self) -> None:
        _let_pins_interrupt()
        listen(self.loop_pin, self._guard_timer.on_edge, Pin.IRQ_RISING | Pin.IRQ_FALLING)
        self._timer = Timer(
            -1, freq=RATE_LIMITED_HZ, callback=self._guard_timer.rate_limited(), hard=True
        )

    def _chip_c(self) -> int:
        sensed_uv = self._thermometer.read_u16() * _UV_PER_100_COUNTS // 100
        # _AT_27_C_UV is what it senses at 27 degrees
        return 27 - (sensed_uv - _AT_27_C_UV) // _UV_PER_C


def _let_pins_interrupt() -> None:
    """Let pins interrupt the other interrupts too, the guard's timer and USB.

    An edge of the runstop loop is not to wait for these.
    """
    part = mem32[_CHIP_ID] >> 12 & 0xFFFF
    for of_part, number in _PINS_INTERRUPT:
        if part == of_part:
            word, shift = _PRIORITIES + (number & ~3), 8 * (number & 3)
            mem32[word] = mem32[word] & ~(0xFF << shift) | _PINS_PRIORITY << shift
