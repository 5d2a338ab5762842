"""The RC receiver as the program sees it: four pulses and a count of complete frames.

Which pulses are valid and when the signal counts as lost core/arbitration/rc_receiver.py decides.
"""

from firmware.compat import TYPE_CHECKING, micropython

if TYPE_CHECKING:
    from typing import Protocol

    from machine import UART

    from firmware.drivers.parts.crsf import Crsf
    from firmware.drivers.parts.rc_pulse import RcPulse
    from firmware.drivers.parts.sbus import Sbus

    class PulseReceiver(Protocol):
        frames: int  # modulo 2**30
        failsafe: int

        def step(self) -> None: ...

        def pulse_us(self, channel: int) -> int: ...


_MASK = (1 << 30) - 1


class WiredReceiver:
    """A receiver with a wire for each channel.

    ``pulses`` are in the order steering, throttle, live-man, mode, None for one that is not there.
    A frame is complete when each of them has had a new pulse: one broken wire is a loss.
    """

    def __init__(self, pulses: "tuple[RcPulse | None, ...]") -> None:
        wires = [(i, pulse) for i, pulse in enumerate(pulses) if pulse is not None]
        self._wires = tuple(wires)
        self._taken = [0] * len(pulses)
        self._widths_us = [0] * len(pulses)
        self.frames = 0
        self.failsafe = 0

    @micropython.native
    def step(self) -> None:
        taken = self._taken
        for channel, pulse in self._wires:
            if pulse.count == taken[channel]:
                return
        for channel, pulse in self._wires:
            taken[channel] = pulse.count
            self._widths_us[channel] = pulse.pulse_us
        self.frames = self.frames + 1 & _MASK

    def pulse_us(self, channel: int) -> int:
        return self._widths_us[channel]


class SerialReceiver:
    """A receiver with SBUS or CRSF; ``places`` are its four channels' numbers, -1 for none."""

    def __init__(self, stream: "Sbus | Crsf", uart: "UART", places: "tuple[int, ...]") -> None:
        self._stream = stream
        self._uart = uart
        self._places = places
        self.frames = 0
        self.failsafe = 0

    def step(self) -> None:
        self._stream.read(self._uart)
        self.frames = self._stream.count
        self.failsafe = int(self._stream.is_failsafe)

    def pulse_us(self, channel: int) -> int:
        place = self._places[channel]
        return self._stream.channels.pulses_us[place] if place >= 0 else 0
