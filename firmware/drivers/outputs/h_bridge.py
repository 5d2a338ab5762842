"""A DC motor on an H-bridge of the TB6612 kind: a PWM and two direction pins.

Its standby pin is shared by two bridges, so that the board switches it.

    in1 in2 pwm
     1   0  duty  forward; where the PWM is low the motor is braked
     0   1  duty  backward
     1   1   any  brake: the motor is shorted
     0   0    1   coast: the motor is let go
"""

from firmware.compat import TYPE_CHECKING

if TYPE_CHECKING:
    from machine import PWM, Pin

FULL = 10_000  # a duty, as the board's channels
_FULL_U16 = 65_535


class HBridge:
    """A motor on an H-bridge, which coasts until ``drive``; ``duty`` is what it does."""

    def __init__(self, pwm: "PWM", in1: "Pin", in2: "Pin") -> None:
        self._pwm = pwm
        self._in1 = in1
        self._in2 = in2
        self.duty = 0
        self.coast()

    def drive(self, duty: int) -> None:
        """Set the duty, -10000 to 10000 in 1/10000; 0 brakes.

        The PWM goes down before the direction turns.
        """
        duty = max(-FULL, min(FULL, duty))
        if (duty < 0) != (self.duty < 0):
            self._pwm.duty_u16(0)
        self._in1.value(duty >= 0)
        self._in2.value(duty <= 0)
        self._pwm.duty_u16(abs(duty) * _FULL_U16 // FULL)
        self.duty = duty

    def coast(self) -> None:
        self._in1.value(0)
        self._in2.value(0)
        self._pwm.duty_u16(_FULL_U16)
        self.duty = 0

    def measured_duty(self) -> int:
        """Return the duty that the PWM's counter really has, without sign."""
        return self._pwm.duty_u16() * FULL // _FULL_U16
