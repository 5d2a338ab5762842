"""The rights of an owner's clients: which messages a client may send to the car.

They follow from the way by which the client came in, never from its own claim. Everybody may
watch, many may stop, one drives. The car itself arbitrates between several drivers; this decides
whose messages reach it at all.
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
from host_bridge.sharing.stop.stop_filter import id_of


class ClientRight(Flag):
    """The rights of a client, in any combination."""

    WATCH = auto()  # ask for its identity, events and parameters
    STOP = auto()  # stop it, and send a stop source's heartbeat
    DRIVE = auto()  # claim its actuators; arm, clear, disarm, cap it
    CONFIGURE = auto()  # change its parameters; make a bare board hardware in the loop


NONE = ClientRight(0)
ALL = ClientRight.WATCH | ClientRight.STOP | ClientRight.DRIVE | ClientRight.CONFIGURE
_SESSION = ClientRight.STOP | ClientRight.DRIVE | ClientRight.CONFIGURE
# The rights by message; any one of them lets it pass
LETS = {
    Identify.ID: ALL,
    EventRequest.ID: ALL,
    ParameterRead.ID: ALL,
    Bind.ID: _SESSION,
    Sync.ID: _SESSION,
    Leave.ID: _SESSION,
    Stop.ID: ClientRight.STOP,
    Alive.ID: ClientRight.STOP,
    BoxWord.ID: ClientRight.STOP,
    Claim.ID: ClientRight.DRIVE,
    Act.ID: ClientRight.DRIVE,
    ParameterWrite.ID: ClientRight.CONFIGURE,
    ConfigCommit.ID: ClientRight.CONFIGURE,
    EnterHitl.ID: ClientRight.CONFIGURE,
}


def may_pass(frame: bytes, rights: ClientRight) -> bool:
    """Return whether a whole frame may go to the car.

    A message with an unknown id needs all rights, for it may be a newer car's.
    """
    needed = LETS.get(id_of(frame.strip(b"\0")))
    return rights == ALL if needed is None else bool(needed & rights)
