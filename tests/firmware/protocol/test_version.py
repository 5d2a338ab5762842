"""The protocol's hash: a CRC of the text of table and codes, other for any other of either."""

from __future__ import annotations

import zlib

import pytest

from firmware.protocol import codes, version
from firmware.protocol.boxes import BOXES
from firmware.protocol.codec import Message
from firmware.protocol.messages import TO_BOARD, TO_HOST
from firmware.protocol.plant import PLANT
from tests.firmware.protocol.streams import TABLE
from tests.support.evidence import some


def table_text() -> str:
    parts = []
    for kind in TO_BOARD + TO_HOST + PLANT + BOXES:
        parts.append(f"{kind.__name__} {kind.ID};")
        parts += [
            f"{name} {kind} {low} {high} {unit}," for name, kind, low, high, unit in kind.FIELDS
        ]
    return "".join(parts)


def codes_text() -> str:
    numbers = {name: value for name, value in vars(codes).items() if type(value) is int}
    assert {"CAUSE_CHARGER", "FAULT_RELAY", "REFUSED_BUSY", "EVENT_BEAT", "ACTIVE"} <= set(numbers)
    return "".join(f"{name} {numbers[name]};" for name in sorted(numbers))


def test_the_hash_is_the_crc_of_the_whole_table_and_of_every_code():
    expected = zlib.crc32((table_text() + codes_text()).encode()).to_bytes(4, "little")
    assert version.protocol_hash(TABLE) == expected


class Probe(Message):
    ID = 16
    FIELDS = (("x", "u8", 0, 9, "mm"), ("y", "u8", 0, 9, "mm"))


def changed(name: str = "Probe", **attributes: object) -> type[Message]:
    return type(name, (Probe,), attributes)


CHANGES = {
    "name": changed("Prober"),
    "id": changed(ID=17),
    "field name": changed(FIELDS=(("z", "u8", 0, 9, "mm"), Probe.FIELDS[1])),
    "kind": changed(FIELDS=(("x", "u16", 0, 9, "mm"), Probe.FIELDS[1])),
    "low": changed(FIELDS=(("x", "u8", 1, 9, "mm"), Probe.FIELDS[1])),
    "high": changed(FIELDS=(("x", "u8", 0, 8, "mm"), Probe.FIELDS[1])),
    "unit": changed(FIELDS=(("x", "u8", 0, 9, "cm"), Probe.FIELDS[1])),
    "order": changed(FIELDS=Probe.FIELDS[::-1]),
    "one less": changed(FIELDS=Probe.FIELDS[:1]),
}


@pytest.mark.parametrize("what", CHANGES)
def test_any_change_of_the_table_changes_the_hash(what, monkeypatch):
    monkeypatch.setattr(version, "TO_BOARD", (Probe,))
    before = version.protocol_hash(TABLE)
    monkeypatch.setattr(version, "TO_BOARD", (CHANGES[what],))
    assert version.protocol_hash(TABLE) != before


def test_the_direction_of_a_message_counts(monkeypatch):
    before = version.protocol_hash(TABLE)
    monkeypatch.setattr(version, "TO_BOARD", TO_HOST)
    monkeypatch.setattr(version, "TO_HOST", TO_BOARD)
    assert version.protocol_hash(TABLE) != before


def test_a_code_that_means_another_number_changes_the_hash(monkeypatch):
    before = version.protocol_hash(TABLE)
    numbers = [name for name, value in vars(codes).items() if type(value) is int]
    for name in some(numbers):
        with monkeypatch.context() as patched:
            patched.setattr(codes, name, getattr(codes, name) + 1)
            assert version.protocol_hash(TABLE) != before, name


def test_a_number_that_two_codes_exchange_changes_the_hash(monkeypatch):
    before = version.protocol_hash(TABLE)
    charger, silence = codes.CAUSE_CHARGER, codes.CAUSE_SILENCE
    monkeypatch.setattr(codes, "CAUSE_CHARGER", silence)
    monkeypatch.setattr(codes, "CAUSE_SILENCE", charger)
    assert version.protocol_hash(TABLE) != before


def test_one_code_more_or_less_changes_the_hash(monkeypatch):
    before = version.protocol_hash(TABLE)
    with monkeypatch.context() as patched:
        patched.setattr(codes, "CAUSE_MOON", 13, raising=False)
        assert version.protocol_hash(TABLE) != before
    monkeypatch.delattr(codes, "CAUSE_STAND_OVER")
    assert version.protocol_hash(TABLE) != before
