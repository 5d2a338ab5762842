"""Arithmetic on wrapping times, and deadlines: the one place where times are compared.

Times are microseconds modulo 2**30 (17.9 minutes), so that they stay small ints on 32-bit ports. No
intermediate value here leaves the 31 bits of a small int. A difference is right up to half the
period (8.9 minutes); for a longer wait the result has to be latched: see ``Deadline``.
"""

from firmware.compat import micropython

const = micropython.const
_HALF = const(1 << 29)


@micropython.viper
def elapsed_us(now_us: int, then_us: int) -> int:
    """Return now - then in us, wrapped to between -2**29 and 2**29 - 1."""
    difference = now_us - then_us
    if difference >= _HALF:
        return difference - _HALF - _HALF
    if difference < -_HALF:
        return difference + _HALF + _HALF
    return difference


@micropython.viper
def shifted_us(time_us: int, by_us: int) -> int:
    """Return time + by in us, modulo 2**30, for by between -2**29 and 2**29 - 1."""
    shifted = time_us - _HALF + by_us
    if shifted >= _HALF:
        return shifted - _HALF
    if shifted < -_HALF:
        return shifted + _HALF + _HALF + _HALF
    return shifted + _HALF


class Deadline:
    """A timer that is open until its time and then stays shut until it is set again.

    Call ``step`` more often than every 8.9 minutes. It shuts the timer by the step's own time, so
    that silence is noticed even if nothing arrives.
    """

    def __init__(self) -> None:
        self.is_open = False
        self._at_us = 0

    @micropython.native
    def set(self, now_us: int, in_us: int) -> None:
        self._at_us = shifted_us(now_us, in_us)
        self.is_open = in_us > 0

    def shut(self) -> None:
        self.is_open = False

    @micropython.native
    def step(self, now_us: int) -> None:
        if self.is_open and elapsed_us(now_us, self._at_us) >= 0:
            self.is_open = False
