"""A counter that the port's hardware keeps, extended to 30 bits.

STM32: a ``pyb.Timer`` in encoder mode, 16 bits (``timer.counter``), 32 bits on timers 2 and 5.
ESP32: ``machine.Encoder`` or ``Counter`` (``encoder.value``), taken modulo 16 bits.
"""

from firmware.compat import TYPE_CHECKING
from firmware.drivers.wheels.wide_count import WideCount

if TYPE_CHECKING:
    from collections.abc import Callable

_BITS = 16  # of the narrowest of these counters


class PolledCounter:
    """A hardware counter; ``value`` is its own method. ``read`` at least every 32000 counts."""

    def __init__(self, value: "Callable[[], int]") -> None:
        self._value = value
        self._wide = WideCount(_BITS)
        self.count = 0

    def read(self, now_us: int = 0) -> None:
        """Read the counter. ``now_us`` is there because other counters of a board need it."""
        self.count = self._wide.take(self._value() & (1 << _BITS) - 1)
