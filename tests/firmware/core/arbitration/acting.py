"""Actions on a desk, and what they are asked."""

from firmware.core.arbitration.actions import Actions
from firmware.core.stops.latch import Latch
from firmware.core.stops.runstop import StopSources
from firmware.protocol.messages import Act, ActReply
from tests.firmware.core.desk import params_with, sure_sessions

STARTING, STANDBY, ACTIVE, HOLD, STOPPING, STOPPED, FAULT = range(7)
ARM, CLEAR, DISARM, CAP = 1, 2, 3, 4
OWNER, SEAT, BOX, FLEET, COMMAND, RC, GUEST = range(7)
STAND, TRACK, RACE = range(3)
(UNKNOWN_EPOCH, STATE, STOP_CAUSE, CAUSE_PRESENT, FAULTY, CONFIGURATION, CLOCK_UNSURE, NONCE,
 MOVING, CHARGER, UNKNOWN_ACTION, STOP_SOURCE, NOT_ALLOWED, RAISED_CAP, RELAY,
 PROFILE, OFF_BEAT, BUSY) = (1 << bit for bit in range(18))  # fmt: skip
CHARGER_CAUSE = 6
LOOP, RADIO = 1, 3  # kinds of stop source
US, OTHERS = 1001, 1002
NO_HASH, HASH = b"\0\0\0\0", b"abcd"
GIVEN = {
    "clock_bound_us": 10_000, "speed_max_mm_s": 3000, "reverse_max_mm_s": 1000,
    "profile_cap_mm_s": [300, 3000, 2000], "profile_default": TRACK,
    "may_arm": 0b110011, "may_clear": 0b010110,
    # 0 is a loop for all; 2 a radio, needed in a race only
    "stop_source_kind": [LOOP, 0, RADIO],
    "stop_source_need": [2] + [0] * 15 + [2, 0, 1] + [0] * 13 + [2, 0, 2],
}  # fmt: skip


class Dice:
    """What the board gives for entropy, made by hand."""

    def __init__(self, *numbers: int) -> None:
        self._numbers = list(numbers)

    def entropy(self) -> int:
        return self._numbers.pop(0)


class Bench:
    """A car that stands, its relay seen open, its loop closed: nothing speaks against an arm."""

    def __init__(self, *numbers: int, **values) -> None:
        self.sessions = sure_sessions(US, OTHERS)
        self.runstop, self.faults = Latch(), Latch()
        self.stop_sources = StopSources(self.sessions)
        self.actions = Actions(
            Dice(*numbers or (77, 88, 99, 66)), self.sessions, self.runstop, self.faults,
            self.stop_sources,
        )  # fmt: skip
        params = params_with(**{**GIVEN, **values})
        params.config_hash[:] = HASH
        self.stop_sources.configure(params)
        self.actions.configure(params)
        self.stop_sources.step(1, None, 0)
        self.actions.is_contact_sure = self.actions.is_standing = True
        self.reply = ActReply()

    def ask(self, action, state, nonce=0, **changes) -> int:
        """On a step of its own; whoever asks anew does so while no request is open."""
        self.actions.granted = 0
        if not nonce:
            self.actions.nonce = 0
        return self.say(action, state, nonce, **changes)

    def say(self, action, state, nonce=0, now_us=0, **changes) -> int:
        act = Act()
        act.epoch, act.action, act.sender, act.value, act.nonce = US, action, COMMAND, TRACK, nonce
        act.config_hash[:] = changes.pop("config_hash", HASH)
        for name, value in changes.items():
            setattr(act, name, value)
        refusals = self.actions.receive(act, self.reply, state, now_us)
        assert refusals == self.reply.refusals
        assert (self.reply.epoch, self.reply.action) == (act.epoch, action)
        return refusals

    def spoil(self) -> dict:
        """Everything that can be wrong with a car, and with who asks."""
        self.runstop.set(CHARGER_CAUSE, True)
        self.faults.set(2, True)
        self.sessions.slots[0].bound_us = 10_001
        self.stop_sources.fresh = 0
        self.actions.is_contact_sure = self.actions.is_standing = False
        self.actions.is_off_beat = True
        return {"config_hash": b"abce", "sender": BOX}
