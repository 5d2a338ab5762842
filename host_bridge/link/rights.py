"""What a client of an owner may say to the car: set by the way it came in, never by itself.

Everybody may watch, many may stop, one drives. The car itself decides who of several drivers wins;
here is decided whose words reach it at all.
"""

from __future__ import annotations

from enum import Flag, auto

from firmware.protocol.boxes import BoxWord
from firmware.protocol.enter_hitl import EnterHitl
from firmware.protocol.messages import (
    Act,
    Alive,
    Bind,
    Claim,
    ConfigCommit,
    EventRequest,
    Identify,
    Leave,
    ParameterRead,
    ParameterWrite,
    Stop,
    Sync,
)
from host_bridge.link.stop_filter import id_of


class Right(Flag):
    """One client has any of them together."""

    WATCH = auto()  # who the car is, its events and parameters
    STOP = auto()  # stop it, and speak as a stop source of it
    DRIVE = auto()  # claim its actuators; arm, clear, disarm, cap it
    CONFIGURE = auto()  # other numbers for it; make a bare board hardware in the loop


NONE = Right(0)
ALL = Right.WATCH | Right.STOP | Right.DRIVE | Right.CONFIGURE
_SESSION = Right.STOP | Right.DRIVE | Right.CONFIGURE
# Which of the rights lets a message pass: any one of these
LETS = {
    Identify.ID: ALL,
    EventRequest.ID: ALL,
    ParameterRead.ID: ALL,
    Bind.ID: _SESSION,
    Sync.ID: _SESSION,
    Leave.ID: _SESSION,
    Stop.ID: Right.STOP,
    Alive.ID: Right.STOP,
    BoxWord.ID: Right.STOP,
    Claim.ID: Right.DRIVE,
    Act.ID: Right.DRIVE,
    ParameterWrite.ID: Right.CONFIGURE,
    ConfigCommit.ID: Right.CONFIGURE,
    EnterHitl.ID: Right.CONFIGURE,
}


def may_pass(frame: bytes, rights: Right) -> bool:
    """Whether a whole frame may go to the car. What nobody knows takes all rights: it may be a
    message of a newer car's."""
    needed = LETS.get(id_of(frame.strip(b"\0")))
    return rights == ALL if needed is None else bool(needed & rights)
