"""A host at a port that keeps the car's own time, and answers a Status after a random delay.

All times are the car's own: each step reports when it began.
"""

from __future__ import annotations

import random

from firmware.protocol import messages
from host_bridge.deploy.hil.host.own_times import CarClockCalls
from host_bridge.deploy.hil.host.port import Port
from host_bridge.deploy.hil.host.small_host import BEAT_US, SmallHost
from sim_mock.board.hardware import TIME_MASK

# A hundred times a second by a clock that is 0.3 % fast, so that in 3.3 s it passes through every
# phase of a control period
CLAIM_EVERY_US = 9_970
_SYNC_EVERY = 5  # steps
_SURE_US, _UNSURE_US, _HELD_US = 7_000, 65_535, 9_000


class PacedHost(SmallHost[Port]):
    """A host that keeps the car's time, and answers a Status now and then after a random delay.

    The board takes the round trip less the time that the host held it; a Sync that arrives just
    before a step begins has waited least.
    """

    def __init__(self, port: Port) -> None:
        super().__init__(port)
        self._sync_every = 1 << 60  # never by Host itself, which allows no time for holding
        self._random = random.Random(1)
        self.bound_us = _UNSURE_US
        self.step_us = BEAT_US
        self.own_times = CarClockCalls(port)  # messages independent of the car's steps

    def _take(self, size: int) -> None:
        super()._take(size)
        report = self.latest.get("ClockReport")
        if report is not None and report.epoch == self.epoch:  # other sessions' are reported too
            self.bound_us = report.bound_us

    def beat(self) -> None:
        self.own_times.until_next_step(self.step_us)
        super().beat()
        if self._beats % _SYNC_EVERY == 0:
            self._sync()

    def _sync(self) -> None:
        port, begun_s = self.world, self.world.now_s()
        if self.bound_us > _SURE_US:
            port.sleep(self._random.random() * _HELD_US / port.us_per_s())
        held_us = int((port.now_s() - begun_s) * port.us_per_s())
        sent_us = port.now_us + held_us & TIME_MASK
        self.say(messages.Sync, board_us=port.now_us, received_us=port.now_us, sent_us=sent_us)
