"""Who commands each actuator: the fresh, permitted, engaged claim of the best priority.

A source passes a gate before it may move wheels (safety.md S4, S6): after start-up, a stop or a
silence its person has to let go first (NEEDS_RELEASE) and then to begin from neutral
(NEEDS_NEUTRAL). An autonomous source has no deadman of its own: the person is the one whose
deadman it needs, and a fresh permission of theirs opens its gate.
"""

from firmware.compat import TYPE_CHECKING
from firmware.core.clock import Session, Sessions
from firmware.core.deadlines import Deadline, elapsed_us
from firmware.core.params import SOURCES
from firmware.protocol.codes import (
    ACTUATOR_COUNT,
    CLAIM_ACCEPTED,
    CLAIM_CLOCK_UNSURE,
    CLAIM_FROM_FUTURE,
    CLAIM_LEASE_TOO_LONG,
    CLAIM_NOT_PERMITTED,
    CLAIM_OTHER_WRITER,
    CLAIM_OUT_OF_SEQUENCE,
    CLAIM_TOO_OLD,
    CLAIM_UNKNOWN_EPOCH,
    CLAIM_UNKNOWN_SOURCE,
    HELD,
    LOST_EXPIRED,
    LOST_NO_DEADMAN,
    LOST_NOT_ENGAGED,
    LOST_NOT_NEUTRAL,
    LOST_OUTRANKED,
    MOTION_BITS,
    NOBODY,
    ON_SILENCE_STOP,
    PERMITS_AUTONOMY,
    SOURCE_ATTENDED,
    SOURCE_HAS_COUNTER,
)

if TYPE_CHECKING:
    from firmware.core.params import Params
    from firmware.protocol.messages import Claim

NEEDS_RELEASE, NEEDS_NEUTRAL, OPEN = 0, 1, 2
_UNATTENDED_US = 3_000_000  # from the arm of one person to the hands of another; nothing moves
_HALF_SEQUENCE = 1 << 15


class Source:
    """One registered source: its rights from the vehicle file, and its newest accepted claim."""

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
        self.frozen_us = 0
        self.slot = -1
        self.sequence = 0
        self.lease = Deadline()
        self.alive = Deadline()
        self.gate = NEEDS_RELEASE
        self.is_fresh = False
        self.fell_silent = False  # on this step
        self.is_frozen = False
        self.deadman = 0
        self.input_count = 0
        self.claimed = 0
        self.steer_urad = 0
        self.speed_mm_s = 0
        self.brake = 0
        self.lights = 0

    def take(self, claim: "Claim", slot: int, now_us: int, lease_us: int) -> None:
        if claim.input_count != self.input_count or not self.is_fresh or not claim.deadman & HELD:
            self.alive.set(now_us, self.frozen_us)
        self.slot = slot
        self.sequence = claim.sequence
        self.lease.set(now_us, lease_us)
        self.is_fresh = True
        self.deadman = claim.deadman
        self.input_count = claim.input_count
        self.claimed = claim.mask
        self.steer_urad = claim.steer_urad
        self.speed_mm_s = claim.speed_mm_s
        self.brake = claim.brake
        self.lights = claim.lights

    def step(self, now_us: int) -> None:
        self.lease.step(now_us)
        self.alive.step(now_us)
        self.fell_silent = self.is_fresh and not self.lease.is_open
        if self.fell_silent:
            self.is_fresh = False
            self.deadman = 0
            self.gate = NEEDS_RELEASE
        self.is_frozen = self.has_counter and self.is_held() and not self.alive.is_open
        if self.is_attended and self.is_fresh:
            self._pass_gate(self.deadman & HELD, self.speed_mm_s == 0)

    def is_held(self) -> bool:
        return self.is_fresh and self.deadman & HELD != 0

    def is_engaged(self) -> bool:
        return self.is_fresh and self.gate == OPEN

    def permits(self) -> bool:
        return self.is_held() and self.deadman & PERMITS_AUTONOMY != 0

    def _pass_gate(self, is_held: int, is_neutral: bool) -> None:
        if not is_held:
            self.gate = NEEDS_NEUTRAL
        elif self.gate == NEEDS_NEUTRAL and is_neutral:
            self.gate = OPEN

    def pass_permission(self, permits: bool) -> None:
        """An autonomous source's gate: the person's permission has to be given anew."""
        if self.is_fresh:
            self._pass_gate(permits, True)

    def begin_from_neutral(self) -> None:
        if self.gate == OPEN and self.is_attended:
            self.gate = NEEDS_NEUTRAL
        elif not self.is_attended:
            self.gate = NEEDS_RELEASE


class Arbiter:
    """Takes claims in, and says after each ``step`` who has each actuator."""

    def __init__(self, sessions: Sessions) -> None:
        self._sessions = sessions
        self.sources = tuple(Source(i) for i in range(SOURCES))
        self.active: "tuple[Source, ...]" = ()
        self.winners = [NOBODY] * ACTUATOR_COUNT
        self.losers = [0] * SOURCES  # by source: why it does not win what it wants, plus one
        self.silent_source = NOBODY  # whose silence is a stop, on this step
        self.frozen_source = NOBODY
        self.attended = Deadline()  # open while any source is there
        self.newest_slot = 0
        self.accepted_us = 0
        self.accepted = 0
        self.refused = 0
        self._clock_bound_us = 0

    def configure(self, params: "Params") -> None:
        self._clock_bound_us = params.get("clock_bound_us")
        frozen_us = params.get("frozen_ms") * 1000
        columns = [
            params.get_all("source_" + name)
            for name in ("mask", "priority", "lease_ms", "cap_mm_s", "flags", "on_silence", "needs")
        ]
        for source in self.sources:
            row = [column[source.id] for column in columns]
            source.mask, source.priority, source.lease_max_ms, source.cap_mm_s = row[:4]
            source.is_attended = row[4] & SOURCE_ATTENDED != 0
            source.has_counter = row[4] & SOURCE_HAS_COUNTER != 0
            source.on_silence, source.needs = row[5:]
            source.frozen_us = frozen_us
        self.active = tuple(source for source in self.sources if source.mask)

    def receive(self, claim: "Claim", now_us: int) -> int:
        """Accept or refuse one claim; returns the verdict. A refused claim refreshes nothing."""
        slot = self._sessions.find(claim.epoch)
        if slot < 0:
            return self._refuse(CLAIM_UNKNOWN_EPOCH)
        if claim.source >= SOURCES or not self.sources[claim.source].mask:
            return self._refuse(CLAIM_UNKNOWN_SOURCE)
        source = self.sources[claim.source]
        session = self._sessions.slots[slot]
        verdict = self._rights(claim, source, slot)
        if verdict == CLAIM_ACCEPTED:
            verdict = self._freshness(claim, session, now_us)
        if verdict != CLAIM_ACCEPTED:
            return self._refuse(verdict)
        age_us = elapsed_us(session.session_us(now_us), claim.stamp_us)
        # the earlier of stamp + lease, less what the clock may be wrong, and arrival + lease
        left_us = claim.lease_ms * 1000 - max(age_us, 0) - session.bound_us
        source.take(claim, slot, now_us, left_us)
        session.claim_sequence = claim.sequence
        session.claim_count = session.claim_count + 1 & 0xFFFF
        self.newest_slot = slot
        self.accepted_us = now_us
        self.accepted += 1
        return CLAIM_ACCEPTED

    def _refuse(self, verdict: int) -> int:
        self.refused += 1
        return verdict

    def _rights(self, claim: "Claim", source: Source, slot: int) -> int:
        if source.is_fresh and source.slot != slot:
            return CLAIM_OTHER_WRITER
        ahead = claim.sequence - source.sequence & 0xFFFF
        if source.slot == slot and (ahead == 0 or ahead >= _HALF_SEQUENCE):
            return CLAIM_OUT_OF_SEQUENCE
        if claim.mask & ~source.mask:
            return CLAIM_NOT_PERMITTED
        if claim.lease_ms > source.lease_max_ms:
            return CLAIM_LEASE_TOO_LONG
        return CLAIM_ACCEPTED

    def _freshness(self, claim: "Claim", session: Session, now_us: int) -> int:
        if session.bound_us > self._clock_bound_us:
            return CLAIM_CLOCK_UNSURE
        age_us = elapsed_us(session.session_us(now_us), claim.stamp_us)
        if age_us < -session.bound_us:
            return CLAIM_FROM_FUTURE
        if age_us + session.bound_us >= claim.lease_ms * 1000:
            return CLAIM_TOO_OLD
        return CLAIM_ACCEPTED

    def step(self, now_us: int) -> None:
        self.silent_source = NOBODY
        self.frozen_source = NOBODY
        self.attended.step(now_us)
        for source in self.active:
            source.step(now_us)
            if source.is_fresh:
                self.attended.set(now_us, _UNATTENDED_US)
            if source.fell_silent and source.on_silence == ON_SILENCE_STOP:
                self.silent_source = source.id
            if source.is_frozen:
                self.frozen_source = source.id
        for source in self.active:
            if not source.is_attended:
                source.pass_permission(self._is_permitted(source))
        for actuator in range(ACTUATOR_COUNT):
            self.winners[actuator] = self._winner(1 << actuator)
        self._name_losers()

    def _is_permitted(self, source: Source) -> bool:
        return source.needs < SOURCES and self.sources[source.needs].permits()

    def _is_eligible(self, source: Source) -> bool:
        if not source.is_fresh or source.gate != OPEN or source.is_frozen:
            return False
        return source.is_held() if source.is_attended else self._is_permitted(source)

    def _winner(self, bit: int) -> int:
        best = NOBODY
        best_priority = -1
        for source in self.active:
            if source.priority > best_priority and source.claimed & bit:
                if self._is_eligible(source):
                    best = source.id
                    best_priority = source.priority
        return best

    def _name_losers(self) -> None:
        for source in self.active:
            self.losers[source.id] = 0 if source.slot < 0 else self._why_not(source)

    def _why_not(self, source: Source) -> int:
        """Why it does not win the motion it wants, plus one; 0 if it does or wants none."""
        if not source.is_fresh:
            return LOST_EXPIRED + 1
        if not source.claimed & MOTION_BITS:
            return 0
        if source.gate == NEEDS_RELEASE:
            return LOST_NOT_ENGAGED + 1
        if not (source.is_held() if source.is_attended else self._is_permitted(source)):
            return LOST_NO_DEADMAN + 1
        if source.gate != OPEN:
            return LOST_NOT_NEUTRAL + 1
        return 0 if source.id in self.winners else LOST_OUTRANKED + 1

    def begin_from_neutral(self, now_us: int) -> None:
        """At arming: whoever was already commanding has to begin again from neutral."""
        self.attended.set(now_us, _UNATTENDED_US)
        for source in self.active:
            source.begin_from_neutral()

    def forget(self, slot: int) -> None:
        """Another session has this slot now: its claims count from their own beginning."""
        for source in self.active:
            if source.slot == slot:
                source.slot = -1

    def is_commanded_from(self, slot: int) -> bool:
        """Whether an engaged source of this session is in command of anything."""
        for source in self.active:
            if source.slot == slot and source.is_engaged():
                return True
        return False
