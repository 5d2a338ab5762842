"""Servo and ESC pulses by a PWM, where the port has no state machines.

A PWM goes on with its last pulse for ever, the processor dead or not. So the lease is ended by
``expire``, which the guard's timer calls: that works with the main loop hung, not with interrupts
off; then only the watchdog's reset ends the pulse.
"""

from firmware.compat import TYPE_CHECKING
from firmware.drivers.ticks import age_us

if TYPE_CHECKING:
    from machine import PWM

SHORTEST_NS = 500_000  # what servos and ESCs take; calibrated limits are above this driver
LONGEST_NS = 2_500_000


class PwmPulses:
    """``pwm`` at 50 to 400 Hz already; ``neutral_ns`` is put at once. ``lease_us`` is how long a
    renewal counts. Raises ValueError for a neutral that is none."""

    def __init__(self, pwm: "PWM", neutral_ns: int, lease_us: int) -> None:
        if not SHORTEST_NS <= neutral_ns <= LONGEST_NS:
            raise ValueError("neutral is 500000 to 2500000 ns; correct the channel's calibration")
        self._pwm = pwm
        self._neutral_ns = neutral_ns
        self._lease_us = lease_us
        self._renewed_us = 0
        self._is_leased = False
        self.pulse_ns = neutral_ns
        pwm.duty_ns(neutral_ns)

    def renew(self, now_us: int, pulse_ns: int) -> None:
        self.pulse_ns = max(SHORTEST_NS, min(LONGEST_NS, pulse_ns))
        self._renewed_us = now_us
        self._is_leased = True
        self._pwm.duty_ns(self.pulse_ns)

    def expire(self, now_us: int, must_end: bool) -> None:
        """For the guard: neutral once the lease is over, or at once if ``must_end``."""
        if self._is_leased and (must_end or age_us(now_us, self._renewed_us) > self._lease_us):
            self._is_leased = False
            self.pulse_ns = self._neutral_ns
            self._pwm.duty_ns(self._neutral_ns)

    def measured_ns(self) -> int:
        """What the PWM's counter really has."""
        return self._pwm.duty_ns()
