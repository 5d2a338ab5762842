"""S6, S7 and S9 in a few lines, in unbounded time. Imports nothing of the car.

Times are plain integers of microseconds that never wrap; sequence numbers are as on the wire.
"""

from dataclasses import dataclass, field

RELEASE, NEUTRAL, OPEN = 0, 1, 2  # what a source's gate waits for
HELD, PERMITS = 1, 2
RC, MOTION = 0, 7  # the receiver's source; steering, drive and brake
NOBODY = 255
FROZEN_US, CLOCK_BOUND_US = 200_000, 10_000
_NEVER_US = -(1 << 60)


@dataclass
class Rights:
    """One row of the vehicle file's sources."""

    mask: int = 0
    priority: int = 0
    lease_ms: int = 120
    attended: bool = True
    counts: bool = False
    needs: int = NOBODY  # an autonomous one: whose deadman
    switch: int = NOBODY  # or which live kill-switch
    repress_us: int = 0


@dataclass
class Wish:
    """The newest claim of a source, and how far its person has come."""

    rights: Rights
    writer: int = -1
    sequence: int = 0
    until_us: int = _NEVER_US
    is_fresh: bool = False
    gate: int = RELEASE
    deadman: int = 0
    claimed: int = 0
    speed: int = 0
    count: int = 0
    counted_us: int = _NEVER_US
    pressed_us: int = _NEVER_US
    is_frozen: bool = False
    fell_silent: bool = False

    @property
    def is_held(self) -> bool:
        return self.is_fresh and self.deadman & HELD != 0


@dataclass
class Model:
    """The arbiter as SAFETY.md has it."""

    table: list[Rights]
    live_switches: int = 0
    said: int = 0  # switches that say stop
    in_hand: bool = False
    stale: set[int] = field(default_factory=set)  # switches that said no stop since a hand let go
    wishes: list[Wish] = field(init=False)

    def __post_init__(self) -> None:
        self.wishes = [Wish(rights) for rights in self.table]

    def may(self, claim, writer: int, age_us: int, bound_us: int) -> bool:
        """S7: known, permitted, the next, one writer, neither old nor from the future."""
        wish = self.wishes[claim.source]
        ahead = (claim.sequence - wish.sequence) % 65536
        return (
            wish.rights.mask != 0
            and claim.mask | wish.rights.mask == wish.rights.mask
            and claim.lease_ms <= wish.rights.lease_ms
            and (not wish.is_fresh or wish.writer == writer)
            and (wish.writer != writer or 0 < ahead < 32768)
            and bound_us <= CLOCK_BOUND_US
            and 4 * bound_us <= claim.lease_ms * 1000
            and -bound_us <= age_us < claim.lease_ms * 1000 - bound_us
        )

    def take(self, claim, writer: int, now_us: int, age_us: int, bound_us: int) -> None:
        wish = self.wishes[claim.source]
        is_held = claim.deadman & HELD
        if claim.input_count != wish.count or not wish.is_fresh or not is_held:
            wish.counted_us = now_us
        if not is_held or not wish.is_held:
            wish.pressed_us = now_us
        wish.writer, wish.sequence, wish.count = writer, claim.sequence, claim.input_count
        wish.until_us = now_us + claim.lease_ms * 1000 - bound_us - max(age_us, 0)
        wish.is_fresh, wish.deadman = True, claim.deadman
        wish.claimed, wish.speed = claim.mask, claim.speed_mm_s

    def step(self, now_us: int) -> None:
        """S9: silence is judged here, by this clock."""
        for wish in self.wishes:
            wish.fell_silent = wish.is_fresh and now_us >= wish.until_us
            if wish.fell_silent:
                wish.is_fresh, wish.deadman, wish.gate = False, 0, RELEASE
            late_us = now_us - wish.counted_us
            wish.is_frozen = wish.rights.counts and wish.is_held and late_us >= FROZEN_US
            is_long = now_us - wish.pressed_us >= wish.rights.repress_us
            if wish.rights.repress_us and wish.is_held and is_long:
                wish.gate = RELEASE
        people = [wish for wish in self.wishes if wish.is_fresh and wish.rights.attended]
        for wish in people:
            self._pass_gate(wish)
        self._see_hands(people)
        for wish in self.wishes:
            if not wish.is_fresh or wish.rights.attended:
                continue
            if self.in_hand:
                wish.gate = RELEASE
            elif wish.rights.switch == NOBODY:
                self._pass_gate(wish)
            elif not self._is_wanted(wish):
                wish.gate = RELEASE  # a switch that comes back is no person: a new arm

    def _see_hands(self, people: list[Wish]) -> None:
        """S4: who steers, drives or brakes by hand, and the RC at manual, has taken over."""
        self.in_hand = any(
            wish.claimed & MOTION
            and (
                wish is self.wishes[RC]
                or (wish.is_held and wish.gate == OPEN and not wish.is_frozen)
            )
            for wish in people
        )
        if self.in_hand:
            self.stale = set(range(16))
        self.stale -= {
            switch for switch in self.stale if not self.in_hand and self.said >> switch & 1
        }

    def _pass_gate(self, wish: Wish) -> None:
        is_neutral = wish.speed == 0 or not wish.rights.attended
        if not self._is_wanted(wish):
            wish.gate = NEUTRAL
        elif wish.gate == NEUTRAL and is_neutral:
            wish.gate = OPEN

    def _is_wanted(self, wish: Wish) -> bool:
        """By the person who holds its deadman, or permits it, or by a live switch."""
        rights = wish.rights
        if rights.attended:
            return wish.is_held
        if rights.switch != NOBODY:
            is_live = self.live_switches >> rights.switch & 1 != 0
            return is_live and rights.switch not in self.stale
        if rights.needs == NOBODY:
            return False
        person = self.wishes[rights.needs]
        return person.is_held and person.deadman & PERMITS != 0 and person.gate != RELEASE

    def arm(self) -> None:
        for wish in self.wishes:
            if wish.rights.switch != NOBODY:
                wish.gate = OPEN if wish.is_fresh else RELEASE
            elif not wish.rights.attended:
                wish.gate = RELEASE
            else:
                wish.gate = min(wish.gate, NEUTRAL)

    def winner(self, actuator: int) -> int:
        """S6: the fresh, permitted, engaged claim of the best priority; of equals the lower id."""
        may = [
            (-wish.rights.priority, source)
            for source, wish in enumerate(self.wishes)
            if wish.is_fresh and wish.gate == OPEN and not wish.is_frozen
            and self._is_wanted(wish) and wish.claimed >> actuator & 1
        ]  # fmt: skip
        return min(may)[1] if may else NOBODY
