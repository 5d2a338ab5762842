"""The arbiter decides whose claim each actuator follows.

The problem. Several sources want the same actuators: a hand at a transmitter, a person at a
terminal, a planner. Frames are lost, doubled, late, or come from a session that has ended. A source
may hang and go on repeating itself. On every step each actuator needs one winner or none, and the
choice must not depend on the order in which frames came in.

A claim is a lease. It names its source, the actuators that it wants and how long it counts. So
nothing has to be taken back: who stops claiming loses everything when its lease is over, without a
message that could itself be lost. The lease ends at the earlier of two moments. The stamp plus the
lease, less what this board's idea of the session's clock may be wrong, keeps a claim that was long
on its way from counting for longer than its sender meant. The arrival plus the lease holds whatever
the clocks say.

Two questions are kept apart. ``receive`` asks whether a claim may be believed: a bound session, a
registered source, no other writer, the next sequence number, only actuators and leases that the
source may have, neither old nor from the future. The first "no" refuses it. A refused claim changes
nothing and renews nothing, so no stream of bad frames can keep a car driving. ``step`` asks who may
have what, of what was believed. It walks the sources from the highest priority down, and the first
one without an objection takes the actuators that it wants and that are still free.

An objection is a missing person. An attended source needs its deadman held and its gate open (see
source.py). An autonomous one needs a person's permission or a live kill-switch. A higher priority
does not replace either: when the person of the highest source lets go, the source below it gets the
actuators. Where a source falls silent, its vehicle file may ask for a stop of the car in place of
that.

A hand ends autonomy. While a person steers, drives or brakes by an attended source, and for as long
as the RC is at manual, held or not, no autonomous source has anything, whatever its priority. After
the hand let go none has anything before its person's permission was released and given again; a
button that is still held never counts. A kill-switch has to have said stop and then run, and the
car to be armed anew. So the next one down after a hand is another hand, or nobody.

What is not decided here. Whether the car may move at all is the supervisor's decision, and how fast
is the limits'. The arbiter also reports why a source lost, because "it does not react" is what its
owner sees. Promises S6 and S7 are about this file; tests/safety/inputs/arbiter_model.py restates
them in unbounded time, without any of this code.
"""

from firmware.compat import TYPE_CHECKING, micropython
from firmware.core.arbitration.source import NEEDS_RELEASE, OPEN, Source
from firmware.core.clock import OWN, Sessions
from firmware.core.deadlines import Deadline, elapsed_us
from firmware.core.settings.params import SOURCES, STOP_SOURCES
from firmware.protocol.codes import (
    ACTUATOR_COUNT,
    BRAKE_BIT,
    CLAIM_ACCEPTED,
    CLAIM_CLOCK_UNSURE,
    CLAIM_FROM_FUTURE,
    CLAIM_LEASE_TOO_LONG,
    CLAIM_NOT_PERMITTED,
    CLAIM_ON_BOARD,
    CLAIM_OTHER_WRITER,
    CLAIM_OUT_OF_SEQUENCE,
    CLAIM_TOO_OLD,
    CLAIM_UNKNOWN_EPOCH,
    CLAIM_UNKNOWN_SOURCE,
    DRIVE_BIT,
    HELD,
    LOST_EXPIRED,
    LOST_FROZEN,
    LOST_NO_DEADMAN,
    LOST_NOT_ENGAGED,
    LOST_NOT_NEUTRAL,
    LOST_NOT_PERMITTED,
    LOST_OUTRANKED,
    NOBODY,
    ON_SILENCE_STOP,
    SOURCE_ATTENDED,
    SOURCE_HAS_COUNTER,
    SOURCE_RC,
    STEERING_BIT,
)
from firmware.protocol.to_board import (
    CLAIM_LEASE,
    CLAIM_MASK,
    CLAIM_SEQUENCE,
    CLAIM_SOURCE,
    CLAIM_STAMP,
    EPOCH,
)

if TYPE_CHECKING:
    from firmware.core.settings.params import Params
    from firmware.protocol.messages import Claim

const = micropython.const

# the time from an arm to the first claim of whoever drives; nothing moves in it
_UNATTENDED_US = const(3_000_000)
_COLUMNS = (
    "mask", "priority", "lease_ms", "cap_mm_s", "flags", "on_silence", "needs", "kill_switch",
    "repress_ms",
)  # fmt: skip
_HALF_SEQUENCE = const(1 << 15)
_MOTION = STEERING_BIT | DRIVE_BIT | BRAKE_BIT


class Arbiter:
    """The arbiter: takes claims in, and decides on each ``step`` which source has each actuator."""

    def __init__(self, sessions: Sessions) -> None:
        self._sessions = sessions
        # a car has five or six of sixteen; one without rights stands for all others
        self._stranger = Source(NOBODY)
        self.sources: "tuple[Source, ...]" = (self._stranger,) * SOURCES
        self.active: "tuple[Source, ...]" = ()
        self.winners = [NOBODY] * ACTUATOR_COUNT
        self.losers = [0] * SOURCES  # by source: LOST_ reason plus 1; actuator bits from bit 8 on
        self.silent_source = NOBODY  # whose silence is a stop, on this step
        self.frozen_source = NOBODY
        self.attended = Deadline()  # shuts when no source has been fresh for 3 s
        self.newest_slot = 0
        self.accepted_us = 0
        self.accepted = 0
        self.refused = 0
        self._clock_bound_us = 0
        self.live_switches = 0  # stop sources that are there and let it run; bits
        self.asserted = 0  # stop sources that say stop; bits
        self._in_hand = False
        self._switches = 0  # stop sources that are a kill-switch; bits
        self._worn = 0  # of them: those that have said no stop since a hand let go
        self.has_receiver = False  # on this board: no host may claim for it

    def configure(self, params: "Params") -> None:
        self._clock_bound_us = params.get("clock_bound_us")
        frozen_us = params.get("frozen_ms") * 1000
        columns = [params.get_all("source_" + name) for name in _COLUMNS]
        self.sources = self._known(columns[0])
        self._switches = 0
        for source in self.sources:
            if source.id == NOBODY:
                continue
            row = [column[source.id] for column in columns]
            source.mask, source.priority, source.lease_max_ms, source.cap_mm_s = row[:4]
            source.is_attended = row[4] & SOURCE_ATTENDED != 0
            source.has_counter = row[4] & SOURCE_HAS_COUNTER != 0
            source.on_silence, source.needs, source.kill_switch = row[5:8]
            source.repress_us = row[8] * 1000
            source.frozen_us = frozen_us
            if source.kill_switch < STOP_SOURCES:
                self._switches |= 1 << source.kill_switch
        # higher priorities first, of equals the lower id: MicroPython's sort is not stable
        ranks = sorted([s.id - s.priority * SOURCES for s in self.sources if s.mask])
        self.active = tuple([self.sources[rank % SOURCES] for rank in ranks])

    def _known(self, masks: "list[int]") -> "tuple[Source, ...]":
        """Return the sources by id: those with actuators made or kept, others without rights."""
        stranger, known = self._stranger, list(self.sources)
        for i in range(SOURCES):
            if not masks[i]:
                known[i] = stranger
            elif known[i].id == NOBODY:
                known[i] = Source(i)
        return tuple(known)

    @micropython.native
    def receive(self, claim: "Claim", now_us: int) -> int:
        """Accept or refuse one claim, by its ``values``; return the verdict.

        A refused claim refreshes nothing.
        """
        values = claim.values
        slot, number = self._sessions.find(values[EPOCH]), values[CLAIM_SOURCE]
        if slot < 0:
            return self._refuse(CLAIM_UNKNOWN_EPOCH)
        if number >= SOURCES or not self.sources[number].mask:
            return self._refuse(CLAIM_UNKNOWN_SOURCE)
        if number == SOURCE_RC and self.has_receiver:
            return self._refuse(CLAIM_ON_BOARD)
        source = self.sources[number]
        session = self._sessions.slots[slot]
        bound_us, lease_us = session.bound_us, values[CLAIM_LEASE] * 1000
        age_us = elapsed_us(session.session_us(now_us), values[CLAIM_STAMP])
        verdict = self._rights(claim, source, slot)
        if verdict == CLAIM_ACCEPTED:
            verdict = self._freshness(age_us, bound_us, lease_us)
        if verdict != CLAIM_ACCEPTED:
            return self._refuse(verdict)
        # the earlier of stamp + lease, less the clock's bound, and arrival + lease
        left_us = lease_us - max(age_us, 0) - bound_us
        source.take(claim, slot, now_us, left_us)
        return self._accept(claim, slot, now_us)

    def receive_own(self, claim: "Claim", now_us: int) -> int:
        """Accept or refuse a claim of the board's own receiver: only its rights are checked."""
        source = self.sources[claim.values[CLAIM_SOURCE]]
        verdict = CLAIM_UNKNOWN_SOURCE
        if source.mask:
            verdict = self._rights(claim, source, OWN)
        if verdict != CLAIM_ACCEPTED:
            return self._refuse(verdict)
        source.take(claim, OWN, now_us, claim.values[CLAIM_LEASE] * 1000)
        return self._accept(claim, OWN, now_us)

    @micropython.native
    def _accept(self, claim: "Claim", slot: int, now_us: int) -> int:
        session = self._sessions.slots[slot]
        session.claim_sequence = claim.values[CLAIM_SEQUENCE]
        session.claim_count = session.claim_count + 1 & 0xFFFF
        self.newest_slot = slot
        self.accepted_us = now_us
        self.accepted += 1
        return CLAIM_ACCEPTED

    def _refuse(self, verdict: int) -> int:
        self.refused += 1
        return verdict

    @micropython.native
    def _rights(self, claim: "Claim", source: Source, slot: int) -> int:
        values = claim.values
        if source.slot != slot:
            if source.is_fresh:
                return CLAIM_OTHER_WRITER
        else:
            ahead = values[CLAIM_SEQUENCE] - source.sequence & 0xFFFF
            if ahead == 0 or ahead >= _HALF_SEQUENCE:
                return CLAIM_OUT_OF_SEQUENCE
        if values[CLAIM_MASK] & ~source.mask:
            return CLAIM_NOT_PERMITTED
        if values[CLAIM_LEASE] > source.lease_max_ms:
            return CLAIM_LEASE_TOO_LONG
        return CLAIM_ACCEPTED

    def _freshness(self, age_us: int, bound_us: int, lease_us: int) -> int:
        if bound_us > self._clock_bound_us or bound_us > lease_us >> 2:
            return CLAIM_CLOCK_UNSURE
        if age_us < -bound_us:
            return CLAIM_FROM_FUTURE
        if age_us + bound_us >= lease_us:
            return CLAIM_TOO_OLD
        return CLAIM_ACCEPTED

    @micropython.native
    def step(self, now_us: int) -> None:
        self.silent_source = NOBODY
        self.frozen_source = NOBODY
        in_hand = False
        attended = self.attended
        attended.step(now_us)
        for source in self.active:
            if not (source.is_fresh or source.fell_silent):
                continue  # nothing in it can change but by a claim
            source.step(now_us)
            if source.is_fresh:
                attended.set(now_us, _UNATTENDED_US)
                in_hand = in_hand or self._is_hand(source)
            elif source.fell_silent and source.on_silence == ON_SILENCE_STOP:
                self.silent_source = source.id
            if source.is_frozen:
                self.frozen_source = source.id
        self._in_hand = in_hand
        self._worn = self._switches if in_hand else self._worn & ~self.asserted
        self._decide()

    @micropython.native
    def _is_hand(self, source: Source) -> bool:
        """Return whether a person has taken over by this fresh source.

        The RC counts at manual, held or not; in its other modes it claims nothing.
        """
        if not (source.is_attended and source.claimed & _MOTION):
            return False
        return source.id == SOURCE_RC or not self._objection(source)

    @micropython.native
    def _decide(self) -> None:
        """Give each actuator to the source of highest priority that may have it and claims it."""
        taken, winners, losers = 0, self.winners, self.losers
        for actuator in range(ACTUATOR_COUNT):
            winners[actuator] = NOBODY
        for source in self.active:
            objection = self._objection(source) if source.is_fresh else LOST_EXPIRED + 1
            won = 0 if objection else source.claimed & ~taken
            if won:
                taken |= won
                self._name_winner(source.id, won)
            lost = 0 if source.slot < 0 else source.claimed & ~won
            losers[source.id] = lost << 8 | (objection or LOST_OUTRANKED + 1) if lost else 0

    @micropython.native
    def _name_winner(self, source: int, won: int) -> None:
        winners, actuator = self.winners, 0
        while won:
            if won & 1:
                winners[actuator] = source
            won >>= 1
            actuator += 1

    @micropython.native
    def _objection(self, source: Source) -> int:
        """Return why this fresh source may have nothing, a LOST_ code plus one; 0 if it may."""
        if source.is_attended:
            is_held = source.deadman & HELD != 0
        else:
            if self._in_hand:
                source.gate = NEEDS_RELEASE
                return LOST_OUTRANKED + 1
            if not self._pass_permission(source):
                return LOST_NOT_PERMITTED + 1
            is_held = True
        gate = source.gate
        if gate == OPEN and is_held:
            return LOST_FROZEN + 1 if source.is_frozen else 0
        if gate == NEEDS_RELEASE:
            return LOST_NOT_ENGAGED + 1
        return LOST_NOT_NEUTRAL + 1 if is_held else LOST_NO_DEADMAN + 1

    def _pass_permission(self, source: Source) -> bool:
        """Step an autonomous source's gate; return whether its person or kill-switch permits it."""
        if source.kill_switch == NOBODY:
            needs = source.needs
            is_permitted = needs < SOURCES and self.sources[needs].permits()
            source.pass_permission(is_permitted)
            return is_permitted
        if (self.live_switches & ~self._worn) >> source.kill_switch & 1:
            return True
        source.gate = NEEDS_RELEASE  # a switch that comes back permits nothing: it takes a new arm
        return False

    def begin_from_neutral(self, now_us: int) -> None:
        """Set all gates at an arm: who was already commanding has to begin again from neutral."""
        self.attended.set(now_us, _UNATTENDED_US)
        for source in self.active:
            source.begin_from_neutral()

    def forget(self, slot: int) -> None:
        """Drop what was claimed in a slot that another session has now.

        Sequence numbers begin anew, and the leases end, because no clock vouches for old claims any
        more.
        """
        for source in self.active:
            if source.slot == slot:
                source.slot = -1
                source.lease.shut()

    def is_commanded_from(self, slot: int) -> bool:
        """Return whether an engaged source belongs to the session of this slot."""
        for source in self.active:
            if source.slot == slot and source.is_engaged():
                return True
        return False
