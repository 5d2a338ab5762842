"""An arbiter on a desk, and what it is told."""

from firmware.core.arbitration.arbiter import Arbiter
from tests.firmware.core.desk import claim_of, params_with, sure_sessions

STEERING, DRIVE, BRAKE, LIGHTS = 1, 2, 4, 8
AUX_1, AUX_4 = 16, 128
HELD, PERMITS = 1, 2
NOBODY = 255
STOPS, YIELDS = 0, 1
ATTENDED, COUNTS = 1, 2
(ACCEPTED, UNKNOWN_EPOCH, UNKNOWN_SOURCE, OTHER_WRITER, OUT_OF_SEQUENCE, NOT_PERMITTED,
 LEASE_TOO_LONG, CLOCK_UNSURE, FROM_FUTURE, TOO_OLD, ON_BOARD) = range(11)  # fmt: skip
# losers
WINS, OUTRANKED, EXPIRED, NO_DEADMAN, NOT_NEUTRAL, NOT_ENGAGED, UNPERMITTED, IS_FROZEN = range(8)
PAD, SEAT, PROGRAM, LAST = 1, 2, 4, 15
NO_WINNERS = [NOBODY] * 8
US, OTHERS = 1001, 1002
BOUND = 1000


class Bench:
    """An arbiter that hears claims of two hosts, at a time that is set by hand."""

    def __init__(self, **values) -> None:
        masks, priorities, flags, needs = [0] * 16, [0] * 16, [0] * 16, [NOBODY] * 16
        for source, mask, priority, flag in (
            (PAD, 15, 120, ATTENDED | COUNTS),
            (SEAT, 15, 100, ATTENDED),
            (PROGRAM, STEERING | DRIVE | BRAKE, 20, 0),
            (LAST, DRIVE, 200, ATTENDED),
        ):
            masks[source], priorities[source], flags[source] = mask, priority, flag
        needs[PROGRAM] = SEAT
        self.sessions = sure_sessions(US, OTHERS, bound_us=BOUND)
        self.arbiter = Arbiter(self.sessions)
        given = {
            "source_mask": masks, "source_priority": priorities, "source_flags": flags,
            "source_needs": needs, "source_lease_ms": [120] * 16,
            "source_cap_mm_s": list(range(100, 1700, 100)), "source_on_silence": [STOPS] * 16,
            "clock_bound_us": 10_000, "frozen_ms": 200,
        }  # fmt: skip
        self.arbiter.configure(params_with(**{**given, **values}))
        self.now_us = 0
        self.sequence = 0
        self.count = 0

    def say(self, source=PAD, **changes) -> int:
        self.sequence += 1
        self.count += 1
        fields = {
            "epoch": US, "source": source, "sequence": self.sequence, "mask": STEERING | DRIVE,
            "deadman": HELD, "input_count": self.count, "lease_ms": 120, "stamp_us": self.now_us,
        }  # fmt: skip
        return self.arbiter.receive(claim_of(**{**fields, **changes}), self.now_us)

    def step(self, ms: float = 10) -> Arbiter:
        self.now_us += round(ms * 1000)
        self.arbiter.step(self.now_us)
        return self.arbiter

    def engage(self, *sources: int, **changes) -> None:
        """Released, then held from neutral."""
        for deadman in (0, HELD):
            for source in sources:
                assert self.say(source, deadman=deadman, **changes) == ACCEPTED
            self.step()

    def why(self, source: int) -> int:
        return self.arbiter.losers[source] & 0xFF

    def lost(self, source: int) -> int:
        """Of what it wants, by actuator bits."""
        return self.arbiter.losers[source] >> 8
