"""The runstop box's board: a button's loop, a radio on a UART, three lamps. Any port has these.

Nothing of it can move, so that it has no guard; the car notices its silence.
"""

import machine
from machine import Pin

from firmware.boards.between_steps import BetweenSteps
from firmware.boards.keys import folded, read_key
from firmware.boards.physical.parts import output
from firmware.compat import TYPE_CHECKING

if TYPE_CHECKING:
    from firmware.boards.link import Link
    from firmware.core.contract import Pins, Starts

_HEALTHY_STEPS = 1_000  # ten seconds


class BoxBoard:
    """The board that firmware/box.py needs. The lights' bits are the lamps, in their order."""

    watchdog_ms = 1_000  # what every port takes; a car has noticed its silence by then

    def __init__(self, pins: "Pins", starts: "Starts", link: "Link") -> None:
        self.board_id = folded(machine.unique_id())
        read_key(self)
        self.link = link
        self.receive_into = link.receive_into  # the link's own: a call fewer for each message
        self.transmit = link.transmit
        self.step_us = self.ran_us = 0
        self.runstop_closed = 0
        self.between_steps = BetweenSteps(link, starts)
        self._steps = 0
        self._loop = Pin(pins.RUNSTOP, Pin.IN, Pin.PULL_DOWN)
        self._lamps = tuple([output(number) for number in pins.LIGHTS or ()])

    def read(self, now_us: int) -> None:
        self.runstop_closed = self._loop.value()

    def write(self, values: "list[int]", enable: bool, lights: int) -> None:
        for i in range(len(self._lamps)):
            self._lamps[i].value(lights >> i & 1)
        if self._steps < _HEALTHY_STEPS:
            self._steps += 1
            self.between_steps.is_healthy = self._steps == _HEALTHY_STEPS

    def entropy(self) -> int:
        return self.between_steps.draw()
