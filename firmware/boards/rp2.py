"""RP2040 and RP2350: pulses that end unaided, edges counted without the processor, a hard timer."""

import rp2
from machine import ADC, Pin, Timer

from firmware.boards.channels import is_pulse
from firmware.boards.metal import MetalBoard
from firmware.boards.parts import listen
from firmware.boards.ring_1 import TICK_HZ
from firmware.boards.wheels import Polled
from firmware.compat import TYPE_CHECKING
from firmware.drivers import rp2_life_signal, rp2_pulses
from firmware.drivers.rp2_life_signal import LifeSignal
from firmware.drivers.rp2_pulses import MAX_FRAMES, Pulses
from firmware.drivers.rp2_quadrature import QuadratureCounter, quadrature

if TYPE_CHECKING:
    from typing import Any

    from firmware.boards.channels import Channel
    from firmware.boards.contract import Pins, Starts
    from firmware.boards.link import Link
    from firmware.boards.ring_1 import Life
    from firmware.boards.store import Store
    from firmware.boards.wheels import Counter
    from firmware.drivers.ticks import TicksUs

_LEASE_US = 60_000  # pulses without a write, as the contract promises
_LIFE_US = 20_000  # the enable without the guard's timer
# RP2040 datasheet 4.9.5: 706 mV at 27 degrees, 1.721 mV less for each more; 3.3 V reference
_UV_PER_100_COUNTS = 5035  # of 16 bits
_AT_27_C_UV = 706_000
_UV_PER_C = 1721


class PulseByPio:
    """An ESC. ``loop`` ends its pulse with the frame, the processor dead or not."""

    def __init__(
        self, loop: Pin, pin: int, state_machine: int, rate_hz: int, neutral_ns: int
    ) -> None:
        self._loop = loop
        self._pin = pin
        self._state_machine = state_machine
        self._period_us = 1_000_000 // rate_hz
        self._pulses = self._started(neutral_ns)

    def _started(self, neutral_ns: int) -> Pulses:
        machine_of_it = rp2.StateMachine(
            self._state_machine,
            rp2_pulses.pulses,
            freq=rp2_pulses.FREQ_HZ,
            set_base=Pin(self._pin),
            jmp_pin=self._loop,
        )
        frames = min(_LEASE_US // self._period_us, MAX_FRAMES)
        return Pulses(machine_of_it, self._period_us, neutral_ns, frames)

    def begin(self, fallback: int) -> None:
        """Another neutral is the first word of a program that begins anew."""
        if is_pulse(fallback) and abs(fallback - self._pulses.neutral_ns) >= rp2_pulses.TICK_NS:
            self._pulses = self._started(fallback)

    def write(self, value: int) -> None:
        if is_pulse(value):
            self._pulses.renew(value)

    def end(self) -> None:
        self._pulses.end()

    def read_back(self) -> int:
        """As it was put: no wire comes back from a state machine."""
        return self._pulses.pulse_ns


class Rp2Board(MetalBoard):
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
        return PulseByPio(self.loop_pin, *row[1:])

    def _own_counter(self, row: "tuple[Any, ...]") -> "Counter":
        if row[1] != "pio_quadrature":
            return super()._own_counter(row)
        first, state_machine = row[2], row[3]
        a_line = Pin(first, Pin.IN, Pin.PULL_UP)
        Pin(first + 1, Pin.IN, Pin.PULL_UP)
        counter = QuadratureCounter(rp2.StateMachine(state_machine, quadrature, in_base=a_line))
        return Polled(counter)

    def _life(self, row: "tuple[Any, ...]") -> "Life":
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
        listen(self.loop_pin, self._ring.on_edge, Pin.IRQ_RISING | Pin.IRQ_FALLING)
        self._timer = Timer(-1, freq=TICK_HZ, callback=self._ring.on_timer, hard=True)

    def _chip_c(self) -> int:
        sensed_uv = self._thermometer.read_u16() * _UV_PER_100_COUNTS // 100
        return 27 - (sensed_uv - _AT_27_C_UV) // _UV_PER_C
