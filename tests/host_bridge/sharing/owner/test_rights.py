"""What each right lets pass to a car, message by message, and nothing else."""

from __future__ import annotations

import pytest

from firmware.protocol import boxes, enter_hitl, to_board
from firmware.protocol.codec import Message
from host_bridge.core.system.clock import MonotonicClock
from host_bridge.sharing.owner.owner import Owner
from host_bridge.sharing.owner.rights import ALL, LETS, NONE, ClientRight
from host_bridge.sharing.stop.stop_filter import id_of
from tests.firmware.protocol.streams import framed, payload_of

SESSION = {"Bind", "Sync", "Leave"}
LOOK = {"Identify", "EventRequest", "ParameterRead"}
MAY = {
    ClientRight.WATCH: LOOK,
    ClientRight.STOP: LOOK | SESSION | {"Stop", "Alive", "BoxWord"},
    ClientRight.DRIVE: LOOK | SESSION | {"Claim", "Act"},
    ClientRight.CONFIGURE: LOOK | SESSION | {"ParameterWrite", "ConfigCommit", "EnterHitl"},
    NONE: set(),
}
KINDS = [
    kind
    for module in (to_board, enter_hitl, boxes)
    for kind in vars(module).values()
    if isinstance(kind, type)
    and issubclass(kind, Message)
    and kind not in (Message, boxes.BoxHeard)
]


class Wire:
    """A transport that keeps what goes to the car."""

    label, bytes_per_s = "wire", None

    def __init__(self) -> None:
        self.sent = b""

    def send(self, data: bytes) -> int:
        self.sent += data
        return len(data)


class Deaf:
    def deliver(self, data: bytes) -> int:
        return len(data)

    def end(self) -> None:
        """Nothing was taken."""


def message(kind: type[Message]) -> Message:
    """In range, whatever its fields are."""
    made = kind()
    for name, _wire, low, high, _unit in kind.FIELDS:
        if high > low:
            setattr(made, name, max(low, min(1, high)))
    return made


def passed(rights: ClientRight, data: bytes) -> set[str]:
    line = Wire()
    owner = Owner(line, MonotonicClock())
    owner.join(Deaf(), rights).feed(data)
    ids = {id_of(part) for part in line.sent.split(b"\0") if part}
    return {kind.__name__ for kind in KINDS if kind.ID in ids}


def test_the_table_names_every_message_to_a_board():
    assert len(KINDS) > 10
    assert {kind.ID for kind in KINDS} == set(LETS)


@pytest.mark.parametrize("rights", MAY, ids=str)
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_a_right_lets_its_messages_pass_and_no_other(rights, kind):
    expected = {kind.__name__} & MAY[rights]
    assert passed(rights, framed(payload_of(message(kind)))) == expected


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_whoever_has_all_rights_says_all(kind):
    assert passed(ALL, framed(payload_of(message(kind)))) == {kind.__name__}


def test_a_claim_in_one_breath_with_a_stop_does_not_pass_with_it():
    breath = b"".join(framed(payload_of(message(kind))) for kind in KINDS)
    assert passed(ClientRight.STOP, breath) == MAY[ClientRight.STOP]


def test_what_nobody_knows_takes_all_rights():
    line = Wire()
    owner = Owner(line, MonotonicClock())
    strange = b"\0\x05\x01\x02\x03\x04\0"
    for rights in (
        ClientRight.WATCH,
        ClientRight.STOP,
        ClientRight.DRIVE,
        ClientRight.STOP | ClientRight.DRIVE,
    ):
        owner.join(Deaf(), rights).feed(strange)
    assert line.sent == b""
    assert owner.refused_bytes == 4 * len(strange)
    owner.join(Deaf(), ALL).feed(strange)
    assert line.sent == strange
