"""What the car's PIO programs do on their pins, by frames instead of cycles: fast enough to drive.

``test_pio_metal.py`` holds each against its program in the emulator. Times are in microseconds.
Runs under CPython and MicroPython.
"""

_NEUTRAL_FRAMES = 15  # the low four bits of a word: for how many frames it counts
_TICKS_PER_US = 4
_PULSE_OVERHEAD, _GAP_OVERHEAD, _GAP_TICKS = 21, 34, 32


class PulsesMetal:
    """The output of a state machine with ``pulses``. ``pulse_ns`` is the last one that began, 0
    before the first."""

    def __init__(self, machine, loop_gpio, bench):
        self._machine = machine
        self._loop_gpio = loop_gpio
        self._bench = bench
        self._neutral = None
        self._word = 0
        self._next_us = 0
        self.pulse_ns = 0

    def advance(self, until_us):
        if not self._machine.is_active:
            return
        if self._neutral is None:
            self._neutral = self._machine.sent.pop(0)
            self._next_us = until_us
        while self._next_us <= until_us:
            self._frame()

    def _frame(self):
        sent = self._machine.sent
        while sent:
            self._word = sent.pop(0)
        is_leased = self._word & _NEUTRAL_FRAMES and self._bench.levels.get(self._loop_gpio, 0)
        shape = self._word if is_leased else self._neutral
        self._word = self._word - 1 if is_leased else 0
        high = (shape >> 4 & 0x3FFF) + _PULSE_OVERHEAD
        low = (shape >> 18) * _GAP_TICKS + _GAP_OVERHEAD
        self.pulse_ns = high * 250
        self._next_us += (high + low) // _TICKS_PER_US


class LifeMetal:
    """The charge pump behind a state machine with ``life_signal``: when it was fed last."""

    WAVE_US = 500
    LOOK_US = 31  # to the second look at a loop that is open

    def __init__(self, machine, loop_gpio, bench):
        self._machine = machine
        self._loop_gpio = loop_gpio
        self._bench = bench
        self._waves = -1  # at rest
        self._next_us = 0
        self._is_in_doubt = False
        self.fed_us = -1_000_000

    def advance(self, until_us):
        while self._next_us <= until_us:
            self._next_us += self._wave()

    def _wave(self):
        """How long until the next look at the loop."""
        sent = self._machine.sent
        if self._waves < 0:
            if not sent:
                return self.WAVE_US
            self._waves = sent.pop(0)
        if not self._bench.levels.get(self._loop_gpio, 0):
            self._is_in_doubt = not self._is_in_doubt
            if not self._is_in_doubt:
                self._waves = -1
            return self.LOOK_US
        self._is_in_doubt = False
        self.fed_us = self._next_us
        if sent:
            self._waves = sent.pop(0)
        self._waves -= 1
        return self.WAVE_US


class CounterMetal:
    """A state machine with ``quadrature``: four old counts in its FIFO, and the newest."""

    def __init__(self, machine):
        self.count = 0
        self._machine = machine
        machine.received = self

    def clear(self):
        """A FIFO that begins anew is full at once."""

    def pop(self, at):
        return self.count & 0xFFFFFFFF

    def __len__(self):
        return 4
