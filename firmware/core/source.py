"""One source: its rights from the vehicle file, its newest claim, and its gate.

A source passes a gate before it may move wheels (safety.md S4, S6): after start-up, a stop or a
silence its person has to let go first (NEEDS_RELEASE) and then to begin from neutral
(NEEDS_NEUTRAL). An autonomous source has no deadman of its own: the person is the one whose
deadman it needs, and a fresh permission of theirs opens its gate. One that needs a live
kill-switch instead drives from an arm on, which is that permission.
"""

from firmware.compat import TYPE_CHECKING
from firmware.core.deadlines import Deadline
from firmware.protocol.codes import (
    ACTUATOR_COUNT,
    AUX_1,
    AUX_2,
    AUX_3,
    AUX_4,
    BRAKE,
    HELD,
    LIGHTS,
    NOBODY,
    ON_SILENCE_STOP,
    PERMITS_AUTONOMY,
)

if TYPE_CHECKING:
    from firmware.protocol.messages import Claim

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
        self.levels = [0] * ACTUATOR_COUNT  # of brake, lights and what else there is

    def take(self, claim: "Claim", slot: int, now_us: int, lease_us: int) -> None:
        deadman, is_fresh = claim.deadman, self.is_fresh
        if claim.input_count != self.input_count or not is_fresh or not deadman & HELD:
            self.alive.set(now_us, self.frozen_us)
        if not (is_fresh and self.deadman & HELD):
            self.pressed.set(now_us, self.repress_us)
        self.slot = slot
        self.sequence = claim.sequence
        self.lease.set(now_us, lease_us)
        self.is_fresh = True
        self.deadman = deadman
        self.input_count = claim.input_count
        self.claimed = claim.mask
        self.steer_urad = claim.steer_urad
        self.speed_mm_s = claim.speed_mm_s
        levels = self.levels
        levels[BRAKE] = claim.brake
        levels[LIGHTS] = claim.lights
        levels[AUX_1] = claim.aux_1
        levels[AUX_2] = claim.aux_2
        levels[AUX_3] = claim.aux_3
        levels[AUX_4] = claim.aux_4

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
        """Whether what holds the deadman is still a person."""
        if self.has_counter:
            self.alive.step(now_us)
            self.is_frozen = not self.alive.is_open
        if self.repress_us:
            self.pressed.step(now_us)
            if not self.pressed.is_open:  # no person holds anything for so long; a stuck key does
                self.gate = NEEDS_RELEASE

    def is_engaged(self) -> bool:
        return self.is_fresh and self.gate == OPEN

    def permits(self) -> bool:
        """Not while this person has to let go first: held is then no word of theirs."""
        is_there = self.is_fresh and self.gate != NEEDS_RELEASE
        return is_there and self.deadman & _HELD_AND_PERMITS == _HELD_AND_PERMITS

    def _pass_gate(self, is_held: int, is_neutral: bool) -> None:
        if not is_held:
            self.gate = NEEDS_NEUTRAL
        elif self.gate == NEEDS_NEUTRAL and is_neutral:
            self.gate = OPEN

    def pass_permission(self, permits: bool) -> None:
        """The gate of a fresh autonomous source: its person's permission has to be given anew."""
        self._pass_gate(permits, True)

    def begin_from_neutral(self) -> None:
        """At an arm. It is the permission of who needs no deadman but a live kill-switch."""
        if self.kill_switch != NOBODY:
            self.gate = OPEN if self.is_fresh else NEEDS_RELEASE
        elif not self.is_attended:
            self.gate = NEEDS_RELEASE
        elif self.gate == OPEN:
            self.gate = NEEDS_NEUTRAL
