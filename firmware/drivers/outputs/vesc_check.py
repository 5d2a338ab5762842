"""Compares what a VESC reports with what it was asked for.

A difference counts only once it has lasted ``settle_us``: a motor takes its time. Compared is the
quantity that was asked for last; braking and coasting ask for no number and compare nothing but the
current's limit.
"""

from firmware.drivers.ticks import age_us

# Kinds of command that it can compare
NOTHING = 0
ERPM = 1
CURRENT = 2
DUTY = 3


class VescCheck:
    """The comparison; ``differs`` while a report has been off for longer than ``settle_us``."""

    def __init__(
        self, settle_us: int, tolerance_erpm: int, tolerance_ma: int, tolerance_permille: int
    ) -> None:
        self._settle_us = settle_us
        self._tolerances = (0, tolerance_erpm, tolerance_ma, tolerance_permille)
        self._asked = NOTHING
        self._value = 0
        self._agreed_us = 0
        self.differs = False

    def ask(self, now_us: int, what: int, value: int) -> None:
        """Note what was asked for: ``what`` is erpm, mA or duty in permille.

        A new value has its settling time anew, unless it is within the tolerance of the last one.
        """
        is_new = what != self._asked or abs(value - self._value) > self._tolerances[what]
        if is_new:
            self._asked = what
            self._value = value
            self._agreed_us = now_us
            self.differs = False

    def step(self, now_us: int, erpm: int, motor_ma: int, duty_permille: int) -> None:
        measured = self._measured(erpm, motor_ma, duty_permille)
        if abs(measured - self._value) <= self._tolerances[self._asked]:
            self._agreed_us = now_us
            self.differs = False
        elif age_us(now_us, self._agreed_us) > self._settle_us:
            self.differs = True

    def _measured(self, erpm: int, motor_ma: int, duty_permille: int) -> int:
        if self._asked == ERPM:
            return erpm
        if self._asked == CURRENT:
            return motor_ma
        return duty_permille if self._asked == DUTY else self._value
