"""An ESC's channel on RP2040 and RP2350. Loaded only where one is wired: a VESC needs none."""

import rp2
from machine import Pin

from firmware.boards.physical.channels import is_pulse
from firmware.drivers.outputs import rp2_pulses
from firmware.drivers.outputs.rp2_pulses import MAX_FRAMES, Pulses

_LEASE_US = 60_000  # pulses without a write, as the contract promises


class PulseByPio:
    """An ESC's channel: an open ``loop`` ends its pulse with the frame, without the processor."""

    def __init__(
        self, loop: Pin, pin: int, state_machine: int, rate_hz: int, neutral_ns: int
    ) -> None:
        self._loop = loop
        self._pin = pin
        self._state_machine = state_machine
        self._period_us = 1_000_000 // rate_hz
        self._start(neutral_ns)

    def _start(self, neutral_ns: int) -> None:
        machine_of_it = rp2.StateMachine(
            self._state_machine,
            rp2_pulses.pulses,
            freq=rp2_pulses.FREQ_HZ,
            set_base=Pin(self._pin),
            jmp_pin=self._loop,
        )
        frames = min(_LEASE_US // self._period_us, MAX_FRAMES)
        self._pulses = pulses = Pulses(machine_of_it, self._period_us, neutral_ns, frames)
        self.end = pulses.end  # an interrupt calls it, on top of whatever runs: a call fewer

    def begin(self, fallback: int) -> None:
        """Restart the state machine if the neutral changes, which is its program's first word."""
        if is_pulse(fallback) and abs(fallback - self._pulses.neutral_ns) >= rp2_pulses.TICK_NS:
            self._start(fallback)

    def write(self, value: int) -> None:
        pulses = self._pulses
        if value == pulses.asked_ns or is_pulse(value):
            pulses.renew(value)

    def read_back(self) -> int:
        """Return the pulse as it was put: no wire comes back from a state machine."""
        return self._pulses.pulse_ns
