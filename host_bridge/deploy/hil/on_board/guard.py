"""Lateness of the guard's hard timer: idle, busy and while memory is collected. No wires."""

import gc
import time

import machine

from firmware.compat import array
from firmware.core.stops.guard import RATE_LIMITED_HZ

TICKS = 5000  # of the timer: enough for what is rare to show


class Lateness:
    """The distance of each call from its due time, taken from the first."""

    def __init__(self):
        self.times_us = array("i", [0] * TICKS)
        self.count = 0

    def on_timer(self, timer):
        if self.count < TICKS:
            self.times_us[self.count] = time.ticks_us()
            self.count += 1

    def report(self, what):
        late = [
            time.ticks_diff(at_us, self.times_us[0]) - n * 1_000_000 // RATE_LIMITED_HZ
            for n, at_us in enumerate(self.times_us[: self.count])
        ]
        middle = sorted(late)[len(late) // 2]
        print(
            what, "calls", self.count, "from middle", min(late) - middle, "to", max(late) - middle
        )


def idle():
    time.sleep_ms(1)


def busy():
    [n * n for n in range(200)]  # some work that makes garbage


def run(what, work):
    lateness = Lateness()
    timer = machine.Timer(-1, freq=RATE_LIMITED_HZ, callback=lateness.on_timer, hard=True)
    while lateness.count < TICKS:
        work()
    timer.deinit()
    lateness.report(what)


run("idle:", idle)
run("busy:", busy)
run("collecting:", gc.collect)
