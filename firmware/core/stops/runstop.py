"""The registered stop sources: who can stop the car, and who has to be live in each profile.

A stop source says "run" or "stop" again and again; what counts is the OR of all stops. A required
one that is silent, missing or was never there is a stop. A pin and the receiver are read on each
step; a host's send Alive over the link, judged for freshness as claims are; a runstop box answers
the car's challenge (core/stops/pairing.py).

A key requires its box: a car that was given one needs its own box in every profile but on a stand,
whatever the configuration says, until the key is forgotten by cable (boards/keys.py).
"""

from firmware.compat import TYPE_CHECKING, micropython
from firmware.core.clock import UNKNOWN_US
from firmware.core.deadlines import Deadline, elapsed_us
from firmware.core.settings.params import POLICY_BRAKE, STOP_SOURCES
from firmware.protocol.codes import (
    MODE_STOP,
    PROFILE_COUNT,
    PROFILE_STAND,
    REQUIRED,
    STOP_SOURCE_LINK,
    STOP_SOURCE_LOOP,
    STOP_SOURCE_NONE,
    STOP_SOURCE_PAIRED,
    STOP_SOURCE_RC,
    STOP_SOURCE_RUNSTOP_BOX,
)
from firmware.protocol.to_board import (
    ALIVE_RUNS,
    ALIVE_SEQUENCE,
    ALIVE_STAMP,
    ALIVE_STOP_SOURCE,
    EPOCH,
)

if TYPE_CHECKING:
    from firmware.core.arbitration.rc_receiver import RcReceiver
    from firmware.core.clock import Sessions
    from firmware.core.settings.params import Params
    from firmware.protocol.messages import Alive

const = micropython.const

UNAUTHENTICATED = const(16)  # STOP_SOURCES; from this bit on stops are not authenticated
_ALL = const((1 << 16) - 1)
_HALF_SEQUENCE = const(1 << 15)


def _require_box(kinds: "list[int]", needs: "list[int]") -> None:
    """Make the runstop box required in every profile but on a stand.

    On a stand the wheels are off the ground, and nobody has to hold a box beside the car.
    """
    kinds[STOP_SOURCE_RUNSTOP_BOX] = STOP_SOURCE_PAIRED
    for profile in range(PROFILE_COUNT):
        if profile != PROFILE_STAND:
            needs[profile * STOP_SOURCES + STOP_SOURCE_RUNSTOP_BOX] = REQUIRED


class StopSourceInput:
    def __init__(self, stop_source_id: int) -> None:
        self.id = stop_source_id
        self.kind = STOP_SOURCE_NONE
        self.silence_us = 0
        self.policy = POLICY_BRAKE
        self.is_fresh = False
        self.says_stop = False
        self.slot = -1
        self.sequence = 0
        self.heard = Deadline()

    @micropython.native
    def is_new(self, sequence: int, slot: int) -> bool:
        """Return whether a word is new: by the source's one writer, with a sequence number ahead.

        Another writer may take its place once the source is not fresh.
        """
        if self.slot != slot:
            return not self.is_fresh
        ahead = sequence - self.sequence & 0xFFFF
        return 0 < ahead < _HALF_SEQUENCE


class StopSources:
    """The state of all stop sources on this step; all bits are by stop source id."""

    def __init__(self, sessions: "Sessions", needs_box: int = 0) -> None:
        self.all = tuple(StopSourceInput(i) for i in range(STOP_SOURCES))
        self.active: "tuple[StopSourceInput, ...]" = ()
        self.fresh = 0
        self.asserted = 0  # says stop, now
        self.received = 0  # a stop came over the link since the last step, however old a word; from
        # bit STRANGE on: by a runstop box that is not this car's
        self.stop_mask = 0  # said or told
        self.paired: "StopSourceInput | None" = None
        self.missing = 0  # required in the profile, and not there
        self.profile = 0
        self.loop = 0  # the bits of those that are a pin
        self._sessions = sessions
        self._needs_box = needs_box
        self._required = [0] * PROFILE_COUNT
        self.heard_mask = 0

    def configure(self, params: "Params") -> None:
        self.profile = params.get("profile_default")
        kinds = params.get_all("stop_source_kind")
        silences_ms = params.get_all("stop_source_silence_ms")
        policies = params.get_all("stop_source_policy")
        needs = params.get_all("stop_source_need")
        self.loop = 0
        self.paired = None
        if self._needs_box:
            _require_box(kinds, needs)
        for source in self.all:
            if source.kind != kinds[source.id]:
                source.heard.shut()  # words of its former kind no longer count, and nobody steps it
            source.kind = kinds[source.id]
            if source.kind == STOP_SOURCE_PAIRED:
                self.paired = source
            if source.kind == STOP_SOURCE_LOOP:
                self.loop |= 1 << source.id
            source.silence_us = silences_ms[source.id] * 1000
            source.policy = policies[source.id]
        for profile in range(PROFILE_COUNT):
            self._required[profile] = 0
            for i in range(STOP_SOURCES):
                if needs[profile * STOP_SOURCES + i] == REQUIRED:
                    self._required[profile] |= 1 << i
        self.active = tuple(source for source in self.all if source.kind != STOP_SOURCE_NONE)

    @micropython.native
    def receive(self, alive: "Alive", now_us: int) -> None:
        """Take an Alive: a stop counts from anybody, a "run" if fresh and of a known source."""
        values = alive.values
        source, runs = self.all[values[ALIVE_STOP_SOURCE]], values[ALIVE_RUNS]
        if not runs:
            self.heard_mask |= 1 << source.id
        slot = self._sessions.find(values[EPOCH])
        left_us = self._left_us(alive, source, slot, now_us)
        if left_us > 0:
            source.says_stop = not runs
            source.sequence = values[ALIVE_SEQUENCE]
            source.slot = slot
            source.heard.set(now_us, left_us)
            source.is_fresh = True

    @micropython.native
    def _left_us(self, alive: "Alive", source: StopSourceInput, slot: int, now_us: int) -> int:
        """Return for how long this word keeps its source fresh, in us; 0 or less if it does not.

        The bound of the session's clock is taken off; any bound that is known will do, because a
        slow radio's clock is known badly, and the word moves nothing.
        """
        values = alive.values
        if slot < 0 or source.kind != STOP_SOURCE_LINK:
            return 0
        if not source.is_new(values[ALIVE_SEQUENCE], slot):
            return 0
        session = self._sessions.slots[slot]
        if session.bound_us >= UNKNOWN_US:
            return 0
        age_us = elapsed_us(session.session_us(now_us), values[ALIVE_STAMP])
        bound_us = session.bound_us  # two at once would be a tuple, from the heap
        if age_us < -bound_us:
            return 0
        return source.silence_us - max(age_us, 0) - bound_us

    @micropython.native
    def step(self, runstop_closed: int, rc: "RcReceiver", now_us: int) -> None:
        """Update who is fresh and who says stop; those in ``fresh & ~said`` let the car run."""
        fresh = asserted = 0
        for source in self.active:
            kind = source.kind
            if kind == STOP_SOURCE_LOOP:
                source.is_fresh = True
                source.says_stop = not runstop_closed
            elif kind == STOP_SOURCE_RC:
                source.is_fresh = rc.is_live
                source.says_stop = rc.mode == MODE_STOP
            else:
                heard = source.heard
                if heard.is_open:
                    heard.step(now_us)
                source.is_fresh = heard.is_open
            if source.is_fresh:
                bit = 1 << source.id
                fresh |= bit
                if source.says_stop:
                    asserted |= bit
        self.fresh, self.asserted = fresh, asserted
        self.received = received = self.heard_mask
        self.stop_mask = asserted | received & _ALL
        self.heard_mask = 0
        self.missing = self.missing_in(self.profile)

    def missing_in(self, profile: int) -> int:
        return self._required[profile] & ~self.fresh

    def policy_of(self, bits: int) -> int:
        """Return the strictest policy of these stop sources."""
        policy = POLICY_BRAKE
        for source in self.active:
            if bits >> source.id & 1 and source.policy > policy:
                policy = source.policy
        return policy

    def forget(self, slot: int) -> None:
        """Forget the session that had this slot: its successor's sequence numbers begin anew."""
        for source in self.active:
            if source.slot == slot:
                source.slot = -1
