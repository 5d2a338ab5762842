"""Arm, clear and disarm: what a person does to a car, granted in two steps or refused.

The board hands out a nonce and acts only when it comes back, so that no single frame, however
delayed or repeated, can arm a car. A refusal names every reason at once.
"""

from firmware.compat import TYPE_CHECKING
from firmware.core import supervisor
from firmware.protocol.codes import (
    ACTION_ARM,
    ACTION_CLEAR,
    ACTION_DISARM,
    CAUSE_CHARGER,
    FAULT,
    HOLD,
    REFUSED_CAUSE_PRESENT,
    REFUSED_CHARGER,
    REFUSED_CLOCK_UNSURE,
    REFUSED_CONFIGURATION,
    REFUSED_FAULT,
    REFUSED_MOVING,
    REFUSED_NONCE,
    REFUSED_STATE,
    REFUSED_STOP_CAUSE,
    REFUSED_UNKNOWN_ACTION,
    REFUSED_UNKNOWN_EPOCH,
    STANDBY,
    STOPPED,
)

if TYPE_CHECKING:
    from firmware.boards.contract import Board
    from firmware.core.clock import Session, Sessions
    from firmware.core.latch import Latch
    from firmware.core.params import Params
    from firmware.protocol.messages import Act, ActReply

# action: states in which it may be, refusals that do not matter to it, the condition it makes
_TABLE = (
    (ACTION_ARM, (STANDBY,), 0, supervisor.ARMED),
    (
        ACTION_CLEAR,
        (STANDBY, STOPPED, FAULT),
        1 << REFUSED_STOP_CAUSE | 1 << REFUSED_CLOCK_UNSURE,
        supervisor.CLEARED,
    ),
    (
        ACTION_DISARM,
        (HOLD,),
        ~(1 << REFUSED_STATE | 1 << REFUSED_UNKNOWN_EPOCH),
        supervisor.DISARMED,
    ),
)
_NONCE_MASK = (1 << 30) - 1


class Actions:
    def __init__(
        self, board: "Board", sessions: "Sessions", runstop: "Latch", faults: "Latch"
    ) -> None:
        self.granted = 0  # supervisor conditions, on this step
        self._board = board
        self._sessions = sessions
        self._runstop = runstop
        self._faults = faults
        self._clock_bound_us = 0
        self._config_hash = bytearray(4)
        self._board_hash = bytearray(4)

    def configure(self, params: "Params") -> None:
        self._clock_bound_us = params.get("clock_bound_us")
        self._config_hash = params.config_hash

    def receive(self, act: "Act", reply: "ActReply", state: int, is_standing: bool) -> int:
        """Fill the reply; returns the refusals."""
        slot = self._sessions.find(act.epoch)
        reply.epoch = act.epoch
        reply.action = act.action
        reply.nonce = 0
        reply.causes_present = self._runstop.present
        reply.refusals = self._refusals(act, slot, state, is_standing)
        if reply.refusals == 0:
            self._two_steps(act, reply, self._sessions.slots[slot])
        return reply.refusals

    def _refusals(self, act: "Act", slot: int, state: int, is_standing: bool) -> int:
        if slot < 0:
            return 1 << REFUSED_UNKNOWN_EPOCH
        for action, states, waived, _condition in _TABLE:
            if action == act.action:
                found = 0 if state in states else 1 << REFUSED_STATE
                found |= self._found(act, self._sessions.slots[slot], is_standing)
                return found & ~waived
        return 1 << REFUSED_UNKNOWN_ACTION

    def _found(self, act: "Act", session: "Session", is_standing: bool) -> int:
        """Everything that speaks against it, at once."""
        present = self._runstop.present
        found = 1 << REFUSED_STOP_CAUSE if self._runstop.bits else 0
        if present:
            found |= 1 << REFUSED_CAUSE_PRESENT
        if present >> CAUSE_CHARGER & 1:
            found |= 1 << REFUSED_CHARGER
        if self._faults.present or (act.action == ACTION_ARM and self._faults.bits):
            found |= 1 << REFUSED_FAULT
        if act.config_hash != self._config_hash:
            found |= 1 << REFUSED_CONFIGURATION
        if session.bound_us > self._clock_bound_us:
            found |= 1 << REFUSED_CLOCK_UNSURE
        if not is_standing:
            found |= 1 << REFUSED_MOVING
        return found

    def _two_steps(self, act: "Act", reply: "ActReply", session: "Session") -> None:
        if act.action == ACTION_DISARM:  # only ever makes the car safer
            self._grant(act.action)
        elif act.nonce == 0:
            session.nonce = self._board.entropy() & _NONCE_MASK or 1
            session.nonce_action = act.action
            reply.nonce = session.nonce
        elif act.nonce == session.nonce and act.action == session.nonce_action:
            session.nonce = 0
            self._grant(act.action)
        else:
            session.nonce = 0
            reply.refusals = 1 << REFUSED_NONCE

    def _grant(self, asked: int) -> None:
        for action, _states, _waived, condition in _TABLE:
            if action == asked:
                self.granted |= condition
