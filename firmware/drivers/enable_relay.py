"""The drive enable: a life signal that holds a relay through a charge pump, and its contact.

On RP2 ``rp2_life_signal`` makes the signal without the processor; ``ToggledLife`` is for other
ports, toggled by the guard's timer: it ends with the timer, the lease, or a ``cut``.
"""

from firmware.compat import TYPE_CHECKING
from firmware.drivers.ticks import age_us

if TYPE_CHECKING:
    from machine import Pin


class ToggledLife:
    """``toggle`` from a timer's interrupt, a thousand times a second; ``toggles`` of them a
    renewal lasts. Low is where it begins and ends."""

    def __init__(self, pin: "Pin", toggles: int) -> None:
        self._pin = pin
        self._toggles = toggles
        self._left = 0
        self._level = 0
        pin.value(0)

    def renew(self) -> None:
        self._left = self._toggles

    def cut(self) -> None:
        self._left = 0
        self._level = 0
        self._pin.value(0)

    def toggle(self) -> None:
        if self._left == 0:
            self.cut()
            return
        self._left -= 1
        self._level = 1 - self._level
        self._pin.value(self._level)


class RelayContact:
    """``pin`` is high while the contact is closed. It follows the coil within ``settle_us``: one
    that is closed for longer without being asked is welded, one that stays open is broken."""

    def __init__(self, pin: "Pin", settle_us: int) -> None:
        self._pin = pin
        self._settle_us = settle_us
        self._agreed_us = 0
        self._was_wanted = False
        self._is_late = False
        self.is_closed = False

    def step(self, now_us: int, is_wanted: bool) -> None:
        self.is_closed = self._pin.value() == 1
        if is_wanted != self._was_wanted or self.is_closed == is_wanted:
            self._was_wanted = is_wanted
            self._agreed_us = now_us
            self._is_late = False
        elif age_us(now_us, self._agreed_us) > self._settle_us:
            self._is_late = True

    @property
    def is_welded(self) -> bool:
        return self._is_late and not self._was_wanted

    @property
    def is_broken(self) -> bool:
        return self._is_late and self._was_wanted
