"""Detects that the hottest part that has a sensor is too hot; never so where there is no sensor."""

from firmware.compat import TYPE_CHECKING, micropython

if TYPE_CHECKING:
    from firmware.core.settings.params import Params

const = micropython.const

_COOLS_C = const(5)  # hysteresis: so far below the limit it is no longer too hot


class Temperature:
    def __init__(self) -> None:
        self.is_over = False
        self.degrees_c = 0
        self._max_c = 0

    def configure(self, params: "Params") -> None:
        self._max_c = params.get("temperature_max_c")

    def step(self, degrees_c: int) -> None:
        if not self._max_c:
            return
        self.degrees_c = degrees_c
        if degrees_c >= self._max_c:
            self.is_over = True
        elif degrees_c < self._max_c - _COOLS_C:
            self.is_over = False
