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
    EventRequest,
    Identify,
    Leave,
    ParameterRead,
    Stop,
    Sync,
)
from host_bridge.link.protocol import wire
from host_bridge.sharing.network.sealed.handshake import Grant, Role
from host_bridge.sharing.network.sealed.sealing import DRIVE, LINK_UP, STOP, Purpose, Rejected

_OF_AN_EPOCH = (Sync, Claim, Act, Leave)
_ROLES: dict[type[Message], Role] = {
    Identify: Role.WATCH,
    EventRequest: Role.WATCH,
    ParameterRead: Role.WATCH,
    Stop: Role.WATCH,  # anyone may stop
    Alive: Role.WATCH,  # as a stop; see below
    Bind: Role.DRIVE,
    Sync: Role.DRIVE,
    Leave: Role.DRIVE,
    Claim: Role.DRIVE,
    Act: Role.DRIVE,
}
_PURPOSES: dict[type[Message], Purpose] = {Claim: DRIVE, Stop: STOP}
OwnsEpoch = Callable[[int], bool]


def purpose_of(message: Message) -> Purpose:
    """Return the purpose under which a message goes up."""
    return _PURPOSES.get(type(message), LINK_UP)


def checked(frames: bytes, purpose: Purpose, grant: Grant, owns: OwnsEpoch) -> list[Message]:
    """Return the messages of a datagram, all of which may pass.

    ``owns`` says whether an epoch is the guest's; Bind is not asked, for it makes it so. Raises
    Rejected.
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
        messages.append(message)
    return messages


def _check(message: Message, grant: Grant, owns: OwnsEpoch) -> None:
    needed = _ROLES.get(type(message))
    if needed is None or grant.role < needed:
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
