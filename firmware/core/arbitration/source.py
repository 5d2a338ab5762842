"""One command source: its rights from the vehicle file, its newest claim, and its gate.

A source passes a gate before it may move wheels (SAFETY.md, S4 and S6): after start-up, a stop or a
silence its person has to let go first (NEEDS_RELEASE) and then to begin from neutral
(NEEDS_NEUTRAL). An autonomous source has no deadman of its own: the person is the one whose deadman
it needs, and a fresh permission of theirs opens its gate. For one that needs a live kill-switch
instead, the arm is that permission. A hand (manual override) shuts the gates of both kinds (see
arbiter.py).
"""

from firmware.compat import TYPE_CHECKING, array, micropython, ptr32
from firmware.core.deadlines import Deadline
from firmware.protocol.codes import (
    ACTUATOR_COUNT,
    BRAKE,
    HELD,
    NOBODY,
    ON_SILENCE_STOP,
    PERMITS_AUTONOMY,
)
from firmware.protocol.to_board import (
    CLAIM_DEADMAN,
    CLAIM_INPUT_COUNT,
    CLAIM_LEVELS,
    CLAIM_MASK,
    CLAIM_SEQUENCE,
    CLAIM_SPEED,
    CLAIM_STEER,
)

if TYPE_CHECKING:
    from firmware.protocol.messages import Claim


@micropython.viper
def _take_levels(values: ptr32, at: int, levels: ptr32, first: int, end: int) -> int:
    """Copy a claim's levels from ``values[at]`` on to ``levels[first:end]``, in the same order."""
    while first < end:
        levels[first] = values[at]
        at += 1
        first += 1
    return 0


NEEDS_RELEASE, NEEDS_NEUTRAL, OPEN = 0, 1, 2
_HELD_AND_PERMITS = HELD | PERMITS_AUTONOMY


class Source:
    def __init__(self, source_id: int) -> None:
        self.id = source_id
        self.mask = 0
        self.priority = 0
        self.lease_max_ms = 0
        self.cap_mm_s = 0
        self.is_attended = False
        self.has_counter = False
        self.on_silence = ON_SILENCE_STOP
        self.needs = NOBODY
        self.kill_switch = NOBODY  # a stop source that has to be live, in place of a deadman
        self.repress_us = 0
        self.frozen_us = 0
        self.slot = -1
        self.sequence = 0
        self.lease = Deadline()
        self.alive = Deadline()
        self.pressed = Deadline()  # open while one press of the deadman still counts
        self.gate = NEEDS_RELEASE
        self.is_fresh = False
        self.fell_silent = False  # on this step
        self.is_frozen = False
        self.deadman = 0
        self.input_count = 0
        self.claimed = 0
        self.steer_urad = 0
        self.speed_mm_s = 0
        self.levels = array("i", [0] * ACTUATOR_COUNT)  # of brake, lights and what else there is

    @micropython.native
    def take(self, claim: "Claim", slot: int, now_us: int, lease_us: int) -> None:
        values, is_fresh = claim.values, self.is_fresh
        deadman, input_count = values[CLAIM_DEADMAN], values[CLAIM_INPUT_COUNT]
        if input_count != self.input_count or not is_fresh or not deadman & HELD:
            self.alive.set(now_us, self.frozen_us)
        if not (is_fresh and self.deadman & HELD):
            self.pressed.set(now_us, self.repress_us)
        self.slot = slot
        self.sequence = values[CLAIM_SEQUENCE]
        self.lease.set(now_us, lease_us)
        self.is_fresh = True
        self.deadman = deadman
        self.input_count = input_count
        self.claimed = values[CLAIM_MASK]
        self.steer_urad = values[CLAIM_STEER]
        self.speed_mm_s = values[CLAIM_SPEED]
        _take_levels(values, CLAIM_LEVELS, self.levels, BRAKE, ACTUATOR_COUNT)

    @micropython.native
    def step(self, now_us: int) -> None:
        lease = self.lease
        lease.step(now_us)
        self.is_frozen = False
        if not lease.is_open:
            self.fell_silent = self.is_fresh
            self.is_fresh = False
            self.deadman = 0
            self.gate = NEEDS_RELEASE
            return
        self.fell_silent = False
        is_held = self.deadman & HELD
        if is_held:
            self._watch_hand(now_us)
        if self.is_attended and (not is_held or self.gate != OPEN):
            self._pass_gate(is_held, self.speed_mm_s == 0)

    def _watch_hand(self, now_us: int) -> None:
        """Check that a person holds the deadman: mark a frozen input, gate a stuck key."""
        if self.has_counter:
            self.alive.step(now_us)
            self.is_frozen = not self.alive.is_open
        if self.repress_us:
            self.pressed.step(now_us)
            if not self.pressed.is_open:  # held for so long only by a stuck key
                self.gate = NEEDS_RELEASE

    def is_engaged(self) -> bool:
        return self.is_fresh and self.gate == OPEN

    def permits(self) -> bool:
        """Return whether its person permits autonomous sources; never before that person let go."""
        is_there = self.is_fresh and self.gate != NEEDS_RELEASE
        return is_there and self.deadman & _HELD_AND_PERMITS == _HELD_AND_PERMITS

    def _pass_gate(self, is_held: int, is_neutral: bool) -> None:
        if not is_held:
            self.gate = NEEDS_NEUTRAL
        elif self.gate == NEEDS_NEUTRAL and is_neutral:
            self.gate = OPEN

    def pass_permission(self, permits: bool) -> None:
        """Step an autonomous source's gate; it opens when permission ends and is given again."""
        self._pass_gate(permits, True)

    def begin_from_neutral(self) -> None:
        """Set the gate at an arm.

        An attended source has to begin from neutral, and an autonomous one needs a fresh
        permission. For one that needs a live kill-switch the arm is the permission: its gate opens
        if it is fresh.
        """
        if self.kill_switch != NOBODY:
            self.gate = OPEN if self.is_fresh else NEEDS_RELEASE
        elif not self.is_attended:
            self.gate = NEEDS_RELEASE
        elif self.gate == OPEN:
            self.gate = NEEDS_NEUTRAL
