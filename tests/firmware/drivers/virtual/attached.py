"""Metal behind a booted board's state machines, counters and toggled pins, as its pins module has
them. Runs under CPython and MicroPython, and imports nothing of the car's program.
"""

from bench import bench
from pio_metal import CounterMetal, LifeMetal, PulsesMetal


class ToggledMetal:
    """A charge pump on a pin that a timer toggles: when it was fed last."""

    def __init__(self, gpio):
        self._gpio = gpio
        self._level = 0
        self.fed_us = -1_000_000

    def advance(self, until_us):
        """Looked at once a step of the bench: an even number of toggles in it is no change."""
        level = bench.levels.get(self._gpio, 0)
        if level != self._level:
            self._level = level
            self.fed_us = until_us


class EncoderMetal:
    """A counter that the port's hardware keeps."""

    def __init__(self, number):
        self._number = number

    @property
    def count(self):
        return bench.encoders[self._number]

    @count.setter
    def count(self, count):
        bench.encoders[self._number] = count


class Attached:
    """``pulses`` by pin; ``counters`` with whether each is the right wheel's; ``life``, the charge
    pump, None where nothing can move."""

    def __init__(self, pins):
        machines = bench.machines
        self.life = None
        if pins.ENABLE and pins.ENABLE[0] == "pio":
            self.life = LifeMetal(machines[pins.ENABLE[2]], pins.RUNSTOP, bench)
        elif pins.ENABLE:
            self.life = ToggledMetal(pins.ENABLE[1])
        self.pulses = {}
        for row in pins.CHANNELS:
            if row[0] == "pio_pulse":
                self.pulses[row[1]] = PulsesMetal(machines[row[2]], pins.RUNSTOP, bench)
        self.counters = []
        for row in pins.ENCODERS:
            if row[1] == "pio_quadrature":
                self.counters.append((row[0] == "right", CounterMetal(machines[row[3]])))
            elif row[1] in ("timer", "counter"):
                self.counters.append((row[0] == "right", EncoderMetal(row[2])))

    def advance(self, until_us):
        for pulses in self.pulses.values():
            pulses.advance(until_us)
        if self.life:
            self.life.advance(until_us)
