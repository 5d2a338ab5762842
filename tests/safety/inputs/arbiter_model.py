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
class SourceState:
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
    states: list[SourceState] = field(init=False)

    def __post_init__(self) -> None:
        self.states = [SourceState(rights) for rights in self.table]

    def may(self, claim, writer: int, age_us: int, bound_us: int) -> bool:
        """S7: known, permitted, the next, one writer, neither old nor from the future."""
        state = self.states[claim.source]
        ahead = (claim.sequence - state.sequence) % 65536
        return (
            state.rights.mask != 0
            and claim.mask | state.rights.mask == state.rights.mask
            and claim.lease_ms <= state.rights.lease_ms
            and (not state.is_fresh or state.writer == writer)
            and (state.writer != writer or 0 < ahead < 32768)
            and bound_us <= CLOCK_BOUND_US
            and 4 * bound_us <= claim.lease_ms * 1000
            and -bound_us <= age_us < claim.lease_ms * 1000 - bound_us
        )

    def take(self, claim, writer: int, now_us: int, age_us: int, bound_us: int) -> None:
        state = self.states[claim.source]
        is_held = claim.deadman & HELD
        if claim.input_count != state.count or not state.is_fresh or not is_held:
            state.counted_us = now_us
        if not is_held or not state.is_held:
            state.pressed_us = now_us
        state.writer, state.sequence, state.count = writer, claim.sequence, claim.input_count
        state.until_us = now_us + claim.lease_ms * 1000 - bound_us - max(age_us, 0)
        state.is_fresh, state.deadman = True, claim.deadman
        state.claimed, state.speed = claim.mask, claim.speed_mm_s

    def step(self, now_us: int) -> None:
        """S9: silence is judged here, by this clock."""
        for state in self.states:
            state.fell_silent = state.is_fresh and now_us >= state.until_us
            if state.fell_silent:
                state.is_fresh, state.deadman, state.gate = False, 0, RELEASE
            late_us = now_us - state.counted_us
            state.is_frozen = state.rights.counts and state.is_held and late_us >= FROZEN_US
            is_long = now_us - state.pressed_us >= state.rights.repress_us
            if state.rights.repress_us and state.is_held and is_long:
                state.gate = RELEASE
        people = [state for state in self.states if state.is_fresh and state.rights.attended]
        for state in people:
            self._pass_gate(state)
        self._see_hands(people)
        for state in self.states:
            if not state.is_fresh or state.rights.attended:
                continue
            if self.in_hand:
                state.gate = RELEASE
            elif state.rights.switch == NOBODY:
                self._pass_gate(state)
            elif not self._is_wanted(state):
                state.gate = RELEASE  # a switch that comes back is no person: a new arm

    def _see_hands(self, people: list[SourceState]) -> None:
        """S4: who steers, drives or brakes by hand, and the RC at manual, has taken over."""
        self.in_hand = any(
            state.claimed & MOTION
            and (
                state is self.states[RC]
                or (state.is_held and state.gate == OPEN and not state.is_frozen)
            )
            for state in people
        )
        if self.in_hand:
            self.stale = set(range(16))
        self.stale -= {
            switch for switch in self.stale if not self.in_hand and self.said >> switch & 1
        }

    def _pass_gate(self, state: SourceState) -> None:
        is_neutral = state.speed == 0 or not state.rights.attended
        if not self._is_wanted(state):
            state.gate = NEUTRAL
        elif state.gate == NEUTRAL and is_neutral:
            state.gate = OPEN

    def _is_wanted(self, state: SourceState) -> bool:
        """By the person who holds its deadman, or permits it, or by a live switch."""
        rights = state.rights
        if rights.attended:
            return state.is_held
        if rights.switch != NOBODY:
            is_live = self.live_switches >> rights.switch & 1 != 0
            return is_live and rights.switch not in self.stale
        if rights.needs == NOBODY:
            return False
        person = self.states[rights.needs]
        return person.is_held and person.deadman & PERMITS != 0 and person.gate != RELEASE

    def arm(self) -> None:
        for state in self.states:
            if state.rights.switch != NOBODY:
                state.gate = OPEN if state.is_fresh else RELEASE
            elif not state.rights.attended:
                state.gate = RELEASE
            else:
                state.gate = min(state.gate, NEUTRAL)

    def winner(self, actuator: int) -> int:
        """S6: the fresh, permitted, engaged claim of the best priority; of equals the lower id."""
        may = [
            (-state.rights.priority, source)
            for source, state in enumerate(self.states)
            if state.is_fresh and state.gate == OPEN and not state.is_frozen
            and self._is_wanted(state) and state.claimed >> actuator & 1
        ]  # fmt: skip
        return min(may)[1] if may else NOBODY
