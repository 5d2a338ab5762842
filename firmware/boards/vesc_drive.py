"""A VESC as a board's drive, and perhaps its servo: duties and pulses become its commands.

What opposes the motion that the VESC itself reports is a braking current, which it never turns into
driving backward; neutral lets the motor go. It is asked for its values on every other step. Behind
the link of two programs neither the guard nor a gate reaches it: its kill-switch input is wired to
the drive enable, and its own timeout is set below 0.2 s (``tandem selftest``).
"""

from firmware.compat import TYPE_CHECKING
from firmware.drivers.vesc import Vesc
from firmware.drivers.vesc_check import DUTY, NOTHING, VescCheck

if TYPE_CHECKING:
    from machine import UART

SILENCE_US = 100_000  # five replies
_FULL = 10_000
_STANDS_ERPM = 100  # a twentieth of a turn a second is no direction
_SETTLE_US = 300_000
_TOLERANCE_PERMILLE = 50
_LOST = 30_000  # read back while it is silent: no duty, so that it differs from any


class VescDrive:
    """The line, read once a step by ``step``; and the drive channel on it.

    ``duty_max`` in 1/10000 and ``brake_max_ma`` are what full effort is.
    """

    def __init__(self, uart: "UART", duty_max: int, brake_max_ma: int) -> None:
        self.vesc = Vesc(uart, SILENCE_US)
        self._duty_max = duty_max
        self._brake_max_ma = brake_max_ma
        self._check = VescCheck(_SETTLE_US, 0, 0, _TOLERANCE_PERMILLE)
        self._value = 0
        self._asks = False

    def step(self, now_us: int) -> None:
        reports = self.vesc.reports
        self.vesc.step(now_us)
        self._check.step(now_us, reports.erpm, reports.motor_ma, reports.duty_permille)
        self._asks = not self._asks
        if self._asks:
            self.vesc.ask()
        self._note(now_us)

    def _note(self, now_us: int) -> None:
        duty = self._value * self._duty_max // (_FULL * 10)
        self._check.ask(now_us, DUTY if self._value and not self._opposes() else NOTHING, duty)

    def begin(self, fallback: int) -> None:
        """Neutral, always."""

    def end(self) -> None:
        """Not from an interrupt: half a command may be on its way."""

    def write(self, value: int) -> None:
        self._value = value
        if value == 0:
            self.vesc.set_current(0)
        elif self._opposes():
            self.vesc.set_brake(abs(value) * self._brake_max_ma // _FULL)
        else:
            self.vesc.set_duty(value * self._duty_max // _FULL)

    def _opposes(self) -> bool:
        erpm = self.vesc.reports.erpm
        return abs(erpm) > _STANDS_ERPM and (erpm > 0) != (self._value > 0)

    def read_back(self) -> int:
        """What was asked while its reports agree; it takes its time, a PWM does not."""
        if not self.vesc.hearing.is_fresh:
            return _LOST
        return self.vesc.reports.duty_permille * 10 if self._check.differs else self._value

    @property
    def fet_c(self) -> int:
        return self.vesc.reports.fet_mdegc // 1000

    @property
    def mv(self) -> int:
        """Of the battery, as it measures it; 0 while it is silent."""
        return self.vesc.reports.input_mv if self.vesc.hearing.is_fresh else 0

    @property
    def count(self) -> int:
        """Of its tachometer, modulo 2**30."""
        return self.vesc.reports.tachometer

    def read(self, now_us: int) -> None:
        """Its counts came with ``step``."""


class VescServo:
    """Steering by the VESC's servo output: 1000 to 2000 us."""

    def __init__(self, vesc: Vesc) -> None:
        self._vesc = vesc
        self._pulse_ns = 0

    def begin(self, fallback: int) -> None:
        """It holds its place."""

    def end(self) -> None:
        """It holds its place."""

    def write(self, value: int) -> None:
        if value:
            self._pulse_ns = value
            self._vesc.set_servo((value - 1_000_000) // 1000)

    def read_back(self) -> int:
        return self._pulse_ns
