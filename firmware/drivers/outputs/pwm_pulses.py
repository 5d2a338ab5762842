"""Servo and ESC pulses by a PWM: for servos, and for ESCs where there are no state machines.

A PWM goes on with its last pulse for ever, the processor dead or not. For a drive that is not
enough: there ``end`` is called by the guard's timer, which works with the main loop hung, not with
interrupts off; then only the watchdog's reset ends the pulse.
"""

from firmware.compat import TYPE_CHECKING, micropython

if TYPE_CHECKING:
    from collections.abc import Callable

    from machine import PWM

const = micropython.const

SHORTEST_NS = const(500_000)  # what servos and ESCs take; calibrated limits are above this driver
LONGEST_NS = const(2_500_000)  # the same


class PwmPulses:
    """Pulses by ``pwm``, which has to be at 50 to 400 Hz already.

    ``neutral_ns`` is put out at once, and by ``end``. Raises ValueError for a neutral that is none.
    """

    def __init__(self, pwm: "PWM", neutral_ns: int) -> None:
        if not SHORTEST_NS <= neutral_ns <= LONGEST_NS:
            raise ValueError("neutral is 500000 to 2500000 ns; correct the channel's calibration")
        self._pwm = pwm
        self.neutral_ns = neutral_ns
        self.pulse_ns = neutral_ns
        # What the PWM's counter really has
        self.measured_ns: "Callable[[], int]" = pwm.duty_ns
        pwm.duty_ns(neutral_ns)

    def put(self, pulse_ns: int) -> None:
        if pulse_ns != self.pulse_ns:
            pulse_ns = max(SHORTEST_NS, min(LONGEST_NS, pulse_ns))
        self._pwm.duty_ns(pulse_ns)
        self.pulse_ns = pulse_ns  # last: an interrupt in between finds it again at its next tick

    def end(self) -> None:
        if self.pulse_ns != self.neutral_ns:
            self.put(self.neutral_ns)
