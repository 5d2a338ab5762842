"""Operator actions: arm and clear, granted in two steps; disarm and cap, in one; or refused.

The board hands out a nonce and acts only when it comes back, so that no single frame, however
delayed or repeated, can arm a car. A refusal names every reason at once. On the car itself the
gesture on the RC stands for both steps.

One request is open at a time, in the whole car, for a second at most. It ends with its
confirmation, with any other request, and with any stop or change, so that what was confirmed is
what is armed. For the same reason only one thing takes effect in a step: ``granted``.
"""

from firmware.compat import TYPE_CHECKING, micropython
from firmware.core import supervisor
from firmware.core.deadlines import Deadline
from firmware.protocol.codes import (
    ACTION_ARM,
    ACTION_CAP,
    ACTION_CLEAR,
    ACTION_DISARM,
    ACTIVE,
    CAUSE_CHARGER,
    FAULT,
    HOLD,
    PROFILE_COUNT,
    REFUSED_BUSY,
    REFUSED_CAP,
    REFUSED_CAUSE_PRESENT,
    REFUSED_CHARGER,
    REFUSED_CLOCK_UNSURE,
    REFUSED_CONFIGURATION,
    REFUSED_FAULT,
    REFUSED_MOVING,
    REFUSED_NONCE,
    REFUSED_NOT_ALLOWED,
    REFUSED_OFF_BEAT,
    REFUSED_PROFILE,
    REFUSED_RELAY,
    REFUSED_STATE,
    REFUSED_STOP_CAUSE,
    REFUSED_STOP_SOURCE,
    REFUSED_UNKNOWN_ACTION,
    REFUSED_UNKNOWN_EPOCH,
    SENDER_GUEST,
    SENDER_RC,
    STANDBY,
    STARTING,
    STOPPED,
    STOPPING,
)
from firmware.protocol.ranges import U16

if TYPE_CHECKING:
    from firmware.core.clock import Sessions
    from firmware.core.contract import Board
    from firmware.core.settings.params import Params
    from firmware.core.stops.latch import Latch
    from firmware.core.stops.runstop import StopSources
    from firmware.protocol.messages import Act, ActReply

const = micropython.const

TAKEN = const(256)  # in ``granted``: an effect that is no supervisor's condition
_OPEN_US = const(1_000_000)  # from a request to its confirmation
_ONLY_SAFER = ~(1 << REFUSED_STATE)
_ANY_STATE = (STARTING, STANDBY, ACTIVE, HOLD, STOPPING, STOPPED, FAULT)
# action, states in which it is allowed, refusals waived for it, supervisor's condition that it sets
_ARM = (ACTION_ARM, (STANDBY,), 0, supervisor.ARMED)
_CLEAR = (
    ACTION_CLEAR,
    (STANDBY, STOPPED, FAULT),
    1 << REFUSED_STOP_CAUSE | 1 << REFUSED_CLOCK_UNSURE | 1 << REFUSED_RELAY,
    supervisor.CLEARED,
)
_TABLE = (
    _ARM,
    _CLEAR,
    (ACTION_DISARM, (HOLD,), _ONLY_SAFER, supervisor.DISARMED),
    (ACTION_CAP, _ANY_STATE, _ONLY_SAFER & ~(1 << REFUSED_CAP), 0),
)
_IN_TWO_STEPS = (ACTION_ARM, ACTION_CLEAR)
_NONCE_MASK = (1 << 30) - 1


class Actions:
    """The operator's requests: at most one is open, and at most one takes effect in a step.

    ``is_contact_sure``, ``is_standing`` and ``is_off_beat`` are set before a step's messages are
    heard.
    """

    def __init__(
        self,
        board: "Board",
        sessions: "Sessions",
        runstop: "Latch",
        faults: "Latch",
        stop_sources: "StopSources",
    ) -> None:
        self.granted = 0  # what took effect on this step: a supervisor's condition, or TAKEN
        self.nonce = 0  # of the request that is open, 0 if none is
        self.cap_mm_s = 0  # the operator's, within what the car can do
        self.profile = 0  # of the last arm
        self.is_contact_sure = False  # the drive enable was seen open, and had time to settle
        self.is_standing = False
        self.is_off_beat = False  # the program misses too many of its beats
        self._board = board
        self._sessions = sessions
        self._runstop = runstop
        self._faults = faults
        self._stop_sources = stop_sources
        self._clock_bound_us = 0
        self._config_hash = bytearray(4)
        self._profile_caps: "list[int]" = []
        self._speed_max = 0
        self._asked_cap = U16  # outlives a new configuration: only a person raises it
        self._default = 0
        self._may: "dict[int, int]" = {}  # by action, bits by sender; else nobody
        self._open = Deadline()
        self._epoch = self._action = self._value = self._sender = 0  # of the open request

    def configure(self, params: "Params") -> None:
        self._clock_bound_us = params.get("clock_bound_us")
        self._config_hash = params.config_hash
        self._profile_caps = params.get_all("profile_cap_mm_s")
        self._speed_max = max(params.get("speed_max_mm_s"), params.get("reverse_max_mm_s"))
        self.cap_mm_s = min(self._asked_cap, self._speed_max)
        self.profile = self._default = params.get("profile_default")
        self._may[ACTION_ARM] = params.get("may_arm")
        self._may[ACTION_CLEAR] = params.get("may_clear")

    def receive(self, act: "Act", reply: "ActReply", state: int, now_us: int) -> int:
        """Judge a request and fill the reply; return the refusals, as bits."""
        slot = self._sessions.find(act.epoch)
        reply.epoch = act.epoch
        reply.action = act.action
        reply.nonce = 0
        reply.causes_present = self._runstop.present
        reply.stop_sources = 0
        if act.action == ACTION_ARM and act.value < PROFILE_COUNT:
            reply.stop_sources = self._stop_sources.missing_in(act.value)
        reply.refusals = self._refusals(act, slot, state)
        if slot >= 0:
            self._expire(now_us)
            reply.refusals |= self._objection(act)
            self.nonce = 0
            if reply.refusals == 0:
                self._two_steps(act, reply, now_us)
        return reply.refusals

    def _refusals(self, act: "Act", slot: int, state: int) -> int:
        if slot < 0:
            return 1 << REFUSED_UNKNOWN_EPOCH
        for action, states, waived, _condition in _TABLE:
            if action == act.action:
                found = 0 if state in states else 1 << REFUSED_STATE
                found |= self._found(action, act.sender, act.value)
                if act.sender == SENDER_RC:  # the RC acts on the board, by its gesture
                    found |= 1 << REFUSED_NOT_ALLOWED
                if act.config_hash != self._config_hash:
                    found |= 1 << REFUSED_CONFIGURATION
                if self._sessions.slots[slot].bound_us > self._clock_bound_us:
                    found |= 1 << REFUSED_CLOCK_UNSURE
                if action == ACTION_CAP and self._raises_cap(act, state):
                    found |= 1 << REFUSED_CAP
                return found & ~waived
        return 1 << REFUSED_UNKNOWN_ACTION

    def _found(self, action: int, sender: int, value: int) -> int:
        """Return at once every refusal by the car's condition and the sender's rights."""
        present = self._runstop.present
        found = 1 << REFUSED_STOP_CAUSE if self._runstop.bits else 0
        if present:
            found |= 1 << REFUSED_CAUSE_PRESENT
        if present >> CAUSE_CHARGER & 1:
            found |= 1 << REFUSED_CHARGER
        if self._faults.present or (action == ACTION_ARM and self._faults.bits):
            found |= 1 << REFUSED_FAULT
        if not self.is_standing:
            found |= 1 << REFUSED_MOVING
        if not self.is_contact_sure:
            found |= 1 << REFUSED_RELAY
        if not self._may.get(action, 0) >> sender & 1:
            found |= 1 << REFUSED_NOT_ALLOWED
        if action == ACTION_ARM:
            found |= self._found_in_profile(value)
            if self.is_off_beat:
                found |= 1 << REFUSED_OFF_BEAT
        return found

    def _found_in_profile(self, profile: int) -> int:
        if profile >= PROFILE_COUNT or not self._profile_caps[profile]:
            return 1 << REFUSED_PROFILE
        return 1 << REFUSED_STOP_SOURCE if self._stop_sources.missing_in(profile) else 0

    def _raises_cap(self, act: "Act", state: int) -> bool:
        """Return whether this cap is higher where it may only fall: not STANDBY, or a guest's."""
        only_lowers = state != STANDBY or act.sender == SENDER_GUEST
        return only_lowers and act.value > self.cap_mm_s

    def _expire(self, now_us: int) -> None:
        self._open.step(now_us)
        if not self._open.is_open:
            self.nonce = 0

    def _objection(self, act: "Act") -> int:
        """Return the refusal by another request, or 0.

        REFUSED_BUSY: something took effect on this step, or another request is open. REFUSED_NONCE:
        the nonce is not that of this request.
        """
        if self.granted:
            return 1 << REFUSED_BUSY
        is_same = (
            act.epoch == self._epoch
            and act.action == self._action
            and act.value == self._value
            and act.sender == self._sender
        )
        if act.nonce and act.action in _IN_TWO_STEPS:
            return 0 if is_same and act.nonce == self.nonce else 1 << REFUSED_NONCE
        return 1 << REFUSED_BUSY if self.nonce and not is_same else 0

    def _two_steps(self, act: "Act", reply: "ActReply", now_us: int) -> None:
        if act.action == ACTION_CAP:
            self._asked_cap = act.value
            self.cap_mm_s = min(act.value, self._speed_max)
            self.granted = TAKEN
        elif act.nonce or act.action == ACTION_DISARM:  # which only ever makes the car safer
            self._grant(act.action, act.value)
        else:
            self.nonce = reply.nonce = self._board.entropy() & _NONCE_MASK or 1
            self._epoch = act.epoch
            self._action = act.action
            self._value = act.value
            self._sender = act.sender
            self._open.set(now_us, _OPEN_US)

    def take(self) -> bool:
        """Claim this step's one effect for something that is no action; return False if taken.

        An open request counts as taking it, and ends in any case.
        """
        is_free = self._is_free()
        if is_free:
            self.granted = TAKEN
        return is_free

    def _is_free(self) -> bool:
        """Return whether no request is open and nothing took effect; end an open request."""
        is_free = not (self.nonce or self.granted)
        self.nonce = 0
        return is_free

    def rebound(self, epoch: int) -> None:
        """End the open request of a session that begins anew or leaves."""
        if epoch == self._epoch:
            self.nonce = 0

    def settle(self, is_disturbed: bool, now_us: int) -> None:
        """End an open request at a step's end, if its second is over or something disturbed it."""
        self._expire(now_us)
        if is_disturbed:
            self.nonce = 0

    def _grant(self, asked: int, value: int) -> None:
        for action, _states, _waived, condition in _TABLE:
            if action == asked:
                self.granted = condition
        if asked == ACTION_ARM:
            self.profile = self._stop_sources.profile = value

    def gesture(self, state: int) -> int:
        """Clear a stopped car or arm one in STANDBY by the RC's gesture; return the refusals.

        Like any request it ends a host's open one.
        """
        is_clear = self.gesture_action(state) == ACTION_CLEAR
        action, states, waived, _condition = _CLEAR if is_clear else _ARM
        found = 0 if state in states else 1 << REFUSED_STATE
        found |= self._found(action, SENDER_RC, self._default)
        found &= ~waived
        if not self._is_free():
            found |= 1 << REFUSED_BUSY
        if not found:
            self._grant(action, self._default)
        return found

    def gesture_action(self, state: int) -> int:
        return ACTION_CLEAR if state == STOPPED or state == FAULT else ACTION_ARM
