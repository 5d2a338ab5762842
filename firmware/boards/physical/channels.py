"""The output channels that every port has, made from rows of the pins module.

A channel takes pulses in ns or duties in 1/10000. ``begin`` says what it falls back to (-1: it
stays), ``end`` puts it there from an interrupt, ``read_back`` is what its hardware really has.
Drivers are loaded with the first channel that needs them: on an RP2040 room is short.
"""

from machine import PWM, Pin

from firmware.compat import TYPE_CHECKING
from firmware.drivers.outputs.pwm_pulses import LONGEST_NS, SHORTEST_NS

if TYPE_CHECKING:
    from typing import Protocol

    class Channel(Protocol):
        def begin(self, fallback: int) -> None: ...

        def write(self, value: int) -> None: ...

        def end(self) -> None: ...

        def read_back(self) -> int: ...


_BRIDGE_HZ = 20_000  # beyond freshness; a TB6612 takes 100 kHz
KEPT = -1


def is_pulse(value: int) -> bool:
    """Return whether a value is a pulse's length in ns.

    A board without a configuration has none to put out, and keeps the pins module's.
    """
    return SHORTEST_NS <= value <= LONGEST_NS


class UnusedChannel:
    """An unused channel: it takes writes without effect."""

    def begin(self, fallback: int) -> None:
        pass

    def write(self, value: int) -> None:
        pass

    def end(self) -> None:
        pass

    def read_back(self) -> int:
        return 0


class PulseByPwm:
    """A servo's channel, which holds its place whatever happens to the program.

    Where the port has nothing better it is an ESC's, too, which the guard ends.
    """

    def __init__(self, pin: "int | str", rate_hz: int, start_ns: int) -> None:
        from firmware.drivers.outputs.pwm_pulses import PwmPulses

        self._pulses = PwmPulses(PWM(Pin(pin), freq=rate_hz), start_ns)
        self._is_kept = True
        self.read_back = self._pulses.measured_ns

    def begin(self, fallback: int) -> None:
        self._is_kept = fallback == KEPT
        if is_pulse(fallback):
            self._pulses.neutral_ns = fallback

    def write(self, value: int) -> None:
        pulses = self._pulses
        if value == pulses.pulse_ns or is_pulse(value):
            pulses.put(value)

    def end(self) -> None:
        if not self._is_kept:
            self._pulses.end()


class Bridge:
    """A motor's channel on an H-bridge; 0 brakes it."""

    def __init__(self, pwm: "int | str", in1: "int | str", in2: "int | str") -> None:
        from firmware.drivers.outputs.h_bridge import HBridge

        first, second = Pin(in1, Pin.OUT, value=0), Pin(in2, Pin.OUT, value=0)
        self._bridge = HBridge(PWM(Pin(pwm), freq=_BRIDGE_HZ, duty_u16=0), first, second)

    def begin(self, fallback: int) -> None:
        """Do nothing: the fallback is always 0, the only neutral of an H-bridge."""

    def write(self, value: int) -> None:
        self._bridge.drive(value)

    def end(self) -> None:
        if self._bridge.duty:
            self._bridge.drive(0)

    def read_back(self) -> int:
        duty = self._bridge.measured_duty()
        return duty if self._bridge.duty >= 0 else -duty


class Standby:
    """The H-bridges' standby pins, which turn the drive off without a relay."""

    def __init__(self, pins: "tuple[Pin, ...]") -> None:
        self._pins = pins
        self._level = 0

    def write(self, level: int) -> None:
        for pin in self._pins:
            pin.value(level)
        self._level = level  # last: an interrupt in between finds it at its next tick

    def end(self) -> None:
        if self._level:
            self.write(0)
