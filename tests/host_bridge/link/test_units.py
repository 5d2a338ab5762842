"""From the wire's integers to SI values and back."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from firmware.core import deadlines
from firmware.protocol import messages
from host_bridge.domain import NOBODY, Claim, State
from host_bridge.link import units, wire
from host_bridge.link.units import TIME_MASK

CLAIM = Claim(
    source_id=1,
    sequence=7,
    mask=3,
    steer_rad=-0.123456,
    speed_mps=2.345,
    brake=1.0,
    is_held=True,
    lease_s=0.12,
    stamp_us=(5 << 30) + 17,
    permits_autonomy=True,
    input_count=70_000,
)


def test_every_message_of_a_car_has_its_report():
    for kind in messages.TO_HOST:
        fields = {
            r[0]: bytes(int(r[1][1:])) if r[1][0] == "b" else max(r[2], 0) for r in kind.FIELDS
        }
        if "action" in fields:
            fields["action"] = 1
        units.report_of(wire.new(kind, **fields))
    for kind in messages.TO_BOARD:
        with pytest.raises(KeyError):
            units.report_of(kind())


def test_a_claim_survives_the_wire():
    message = units.claim_message(CLAIM, 99)
    again = units.claim_of(wire.Decoder().feed(wire.encode(message))[0])
    assert again == replace(CLAIM, stamp_us=17, input_count=70_000 & 0xFFFF)


@pytest.mark.parametrize("steer_rad", [1.1, -1.1])
def test_a_claim_beyond_the_wire_s_range_is_refused_by_name(steer_rad):
    message = units.claim_message(replace(CLAIM, steer_rad=steer_rad), 1)
    with pytest.raises(ValueError, match=r"Claim.steer_urad: expected -1000000 to 1000000 urad"):
        wire.encode(message)


def test_an_unknown_code_is_a_value_error_and_in_a_frozen_message_nobody():
    status = {r[0]: b"1234" if r[1] == "b4" else 0 for r in messages.Status.FIELDS}
    with pytest.raises(ValueError, match="99"):
        units.report_of(wire.new(messages.Status, **{**status, "state": 99}))
    seen = wire.new(
        messages.StopSeen, token=1, state=99, sender=88, sender_name=b"x".ljust(16, b"\0")
    )
    report = units.report_of(seen)
    assert (report.state, report.sender, report.sender_name) == (None, None, "x")


def test_nobody_is_none_and_an_old_claim_has_no_time():
    fields = {r[0]: b"1234" if r[1] == "b4" else 0 for r in messages.Status.FIELDS}
    fields |= {"drive_source": NOBODY, "first_cause": 255, "time_us": 5, "applied_10us": 1}
    status = units.report_of(wire.new(messages.Status, **fields))
    assert (status.state, status.drive_source, status.first_cause) == (State.STARTING, None, None)
    assert status.applied_us == TIME_MASK - 4
    fields["applied_10us"] = 65535
    assert units.report_of(wire.new(messages.Status, **fields)).applied_us is None


def test_times_are_compared_as_the_car_compares_them():
    rng = random.Random(1)
    for _ in range(10_000):
        a, b = rng.randrange(1 << 30), rng.randrange(1 << 30)
        assert units.elapsed_us(a, b) == deadlines.elapsed_us(a, b)
        near = rng.randrange(1 << 40)
        unwrapped = units.unwrapped_us(a, near)
        assert unwrapped & TIME_MASK == a
        assert abs(unwrapped - near) <= 1 << 29


def test_a_name_is_cut_between_characters_and_comes_back():
    assert units.text_of(units.name_field("Lenkachse süß ÄÖÜ")) == "Lenkachse süß "
    assert len(units.name_field("ü" * 20)) == 16
    assert units.text_of(b"\xff\xfe") == "\ufffd\ufffd"
