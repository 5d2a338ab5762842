"""What the STM32 port's boards use of ``pyb``: pins by name, timers that fire or count."""

# ruff: noqa: A002 - the signatures are those of the documentation

from bench import bench
from machine import Timer as _Timer


class Pin:
    def __init__(self, id):
        if not isinstance(id, str):
            raise ValueError("a pin of this port has a name")
        self.name = id


class Timer:
    ENC_AB = 9

    def __init__(self, id, *, freq=0, prescaler=-1, period=0, callback=None):
        if not 1 <= id <= 17 or (freq > 0) == (prescaler >= 0):
            raise ValueError("timers are 1 to 17, with a freq in Hz or a prescaler and a period")
        self._id = id
        self._period = period
        if freq:
            self._timer = _Timer(-1, freq=freq, callback=callback, hard=True)
        else:
            bench.encoders[id] = 0

    def channel(self, channel, mode, *, pin):
        if channel not in (1, 2) or mode != self.ENC_AB or not isinstance(pin, Pin):
            raise ValueError("channels 1 and 2 decode")

    def counter(self):
        return bench.encoders[self._id] % (self._period + 1)
