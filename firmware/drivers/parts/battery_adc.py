"""A battery's voltage by a divider on an ADC pin, told apart from the USB plug's.

On boards where USB feeds the measured rail a reading near 5 V says nothing about the pack: it
counts as no pack, unless the plug is out or the reading is above what USB can give.
"""

from firmware.compat import TYPE_CHECKING, micropython

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from machine import ADC, Pin

const = micropython.const

_USB_LOW_MV = const(4000)  # through a diode and a long cable
_USB_HIGH_MV = const(5300)  # 5.25 V, the most that USB allows, and the divider's error
_AVERAGED = const(8)  # readings


class BatteryAdc:
    """A battery's voltage by an ADC; ``mv`` is 0 without a pack.

    ``full_mv`` is what 65535 reads as: the reference times the divider, at most 16000. ``least_mv``
    is the lowest voltage of a pack that is there. ``usb`` is high while the plug is in; None where
    USB cannot feed the measured rail.
    """

    def __init__(self, adc: "ADC", full_mv: int, least_mv: int, usb: "Pin | None") -> None:
        if not 0 < full_mv <= 16_000:  # times 65535 it is still within 30 bits
            raise ValueError("full_mv is 1 to 16000; correct the divider in the board file")
        self._adc = adc
        self._full_mv = full_mv
        self._least_mv = least_mv
        self._usb = usb
        self._sum = adc.read_u16() * _AVERAGED
        self.is_on_usb = False
        self.mv = 0

    @micropython.native
    def step(self, now_us: int) -> None:
        """Take a new reading, an eighth of it in the average, whatever the time."""
        total, usb = self._sum, self._usb
        self._sum = total = total + self._adc.read_u16() - total // _AVERAGED
        mv = total // _AVERAGED * self._full_mv // 65_535
        if usb is not None:
            self.is_on_usb = usb.value() == 1
            if self.is_on_usb and _USB_LOW_MV <= mv <= _USB_HIGH_MV:
                mv = 0
        self.mv = mv if mv >= self._least_mv else 0


def make(
    row: "tuple[Any, ...]",
    i2c: "Any",
    adc: "Callable[[int | str], ADC]",
    input_low: "Callable[[int | str | None], Pin | None]",
) -> BatteryAdc:
    """Make the driver from its row of the pins module.

    The row has its name, pin, mV at full reading, least mV of a pack, USB's pin.
    """
    return BatteryAdc(adc(row[1]), row[2], row[3], input_low(row[4]))
