"""The filter of what guests say: which frames of a guest go to the car.

It is narrower than the rights of a local client. A guest claims only by the sources that were lent,
acts only under its own kind of sender, and has an epoch of its own. One frame that may not pass
refuses its whole datagram.
"""

from __future__ import annotations

from collections.abc import Callable

from firmware.protocol.codec import Message
from firmware.protocol.codes import SENDER_GUEST
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
from host_bridge.link.protocol import wire
from host_bridge.sharing.network.sealed.handshake import Grant, Role
from host_bridge.sharing.network.sealed.sealing import DRIVE, LINK_UP, STOP, Purpose, Rejected

_OF_AN_EPOCH = (Sync, Claim, Act, Leave, ParameterWrite, ConfigCommit)
_ANY = Role.WATCH | Role.STOP | Role.DRIVE | Role.CONFIGURE
_SESSION = Role.DRIVE | Role.CONFIGURE
# The roles by message; a message that is not here passes for nobody
_ROLES: dict[type[Message], Role] = {
    Identify: _ANY,
    EventRequest: _ANY,
    ParameterRead: _ANY,
    Stop: _ANY,  # anyone may stop
    Alive: _ANY,  # as a stop; see below
    Bind: _SESSION,
    Sync: _SESSION,
    Leave: _SESSION,
    Claim: Role.DRIVE,
    Act: Role.DRIVE,
    ParameterWrite: Role.CONFIGURE,
    ConfigCommit: Role.CONFIGURE,
}
_PURPOSES: dict[type[Message], Purpose] = {Claim: DRIVE, Stop: STOP}
OwnsEpoch = Callable[[int], bool]


def purpose_of(message: Message) -> Purpose:
    """Return the purpose under which a message goes up."""
    return _PURPOSES.get(type(message), LINK_UP)


def checked(
    frames: bytes, purpose: Purpose, grant: Grant, owns: OwnsEpoch, stand: Callable[[], str]
) -> list[Message]:
    """Return the messages of a datagram, all of which may pass.

    ``owns`` says whether an epoch is the guest's; Bind is not asked, for it makes it so. ``stand``
    returns why nobody may configure the car now, "" if one may. Raises Rejected.
    """
    decoder = wire.MessageDecoder()
    heard = list(decoder.feed(frames))
    if not heard or not frames.endswith(b"\0"):
        raise Rejected("no frame")
    messages: list[Message] = []
    for message in heard:
        if isinstance(message, wire.RejectedFrame):
            raise Rejected("damaged frame")
        if purpose_of(message) is not purpose:
            raise Rejected("wrong purpose")
        _check(message, grant, owns)
        if isinstance(message, ParameterWrite | ConfigCommit) and stand():
            raise Rejected(stand())
        messages.append(message)
    return messages


def _check(message: Message, grant: Grant, owns: OwnsEpoch) -> None:
    needed = _ROLES.get(type(message))
    if needed is None or not grant.role & needed:
        raise Rejected("beyond its role")
    if isinstance(message, _OF_AN_EPOCH) and not owns(message.epoch):
        raise Rejected("another's epoch")
    if isinstance(message, Claim):
        _check_claim(message, grant)
    elif isinstance(message, Act) and message.sender != SENDER_GUEST:
        raise Rejected("another's sender")
    elif isinstance(message, Alive) and message.runs:
        if not (grant.stop_sources >> message.stop_source & 1 and owns(message.epoch)):
            raise Rejected("another's stop source")
    elif isinstance(message, Identify) and any(message.challenge):
        raise Rejected("a challenge")  # an answer is made with a box's key


def _check_claim(message: Claim, grant: Grant) -> None:
    if not grant.sources >> message.source & 1:
        raise Rejected("another's source")
    if grant.cap_mm_s and abs(message.speed_mm_s) > grant.cap_mm_s:
        raise Rejected("beyond its cap")
