"""Stop sources on a desk, and what they say."""

from firmware.core.arbitration.rc_receiver import RcReceiver
from firmware.core.stops.runstop import StopSources
from firmware.protocol.codec import fill_values
from firmware.protocol.messages import Alive
from tests.firmware.core.desk import params_with, sure_sessions

BRAKE, NEUTRAL, CUT = 0, 1, 2
NONE, LOOP, RC, LINK, PAIRED = 0, 1, 2, 3, 4
STAND, TRACK, RACE = 0, 1, 2
PIN, HAND, SEAT, BOX, UNKNOWN, LAST = 0, 1, 2, 3, 4, 15
US, OTHERS = 1001, 1002
BOUND = 1000
SILENCE_US = 250_000
PERIOD = 2**30
KINDS = [LOOP, RC, LINK, LINK, NONE] + [NONE] * 10 + [LINK]
NEEDS = {
    STAND: [2, 1, 0, 0] + [0] * 12,
    TRACK: [2, 1, 1, 2] + [0] * 12,
    RACE: [1, 2, 0, 0] + [0] * 11 + [2],
}


class Bench:
    def __init__(self, now_us: int = 0, needs_box: int = 0, **values) -> None:
        self.sessions = sure_sessions(US, OTHERS, bound_us=BOUND)
        self.sources = StopSources(self.sessions, needs_box)
        given = {
            "clock_bound_us": 10_000, "stop_source_kind": KINDS,
            "stop_source_silence_ms": [250] * 16, "profile_default": TRACK,
            "stop_source_policy": [BRAKE, NEUTRAL, BRAKE, CUT] + [BRAKE] * 11 + [NEUTRAL],
            "stop_source_need": NEEDS[STAND] + NEEDS[TRACK] + NEEDS[RACE],
        }  # fmt: skip
        self._given = {**given, **values}
        self.configure()
        self.rc = RcReceiver()
        self.now_us = now_us
        self.sequence = 0

    def configure(self, **values) -> None:
        self.sources.configure(params_with(**{**self._given, **values}))

    def say(self, stop_source=BOX, runs=1, **changes) -> None:
        self.sequence += 1
        alive = Alive()
        alive.epoch, alive.stop_source, alive.sequence = US, stop_source, self.sequence
        alive.runs, alive.stamp_us = runs, self.now_us
        for name, value in changes.items():
            setattr(alive, name, value)
        fill_values(alive)
        self.sources.receive(alive, self.now_us)

    def step(self, after_us: int = 0, closed: int = 1) -> StopSources:
        self.now_us = (self.now_us + after_us) % PERIOD
        self.sources.step(closed, self.rc, self.now_us)
        return self.sources


def seen(sources: StopSources) -> tuple[int, int, int, int]:
    return sources.fresh, sources.asserted, sources.received, sources.missing
