"""From the wire's integers to SI values and back."""

from __future__ import annotations

from dataclasses import astuple, replace

import pytest

from firmware.protocol import messages
from host_bridge.core import (
    NOBODY,
    Action,
    ActionReply,
    BatteryStage,
    BindResult,
    CarStatus,
    Cause,
    Claim,
    ClockReport,
    Device,
    Fault,
    Inputs,
    Outputs,
    Power,
    Profile,
    RcMode,
    Refusal,
    Second,
    State,
    VescState,
)
from host_bridge.core.board_time import TIME_MASK
from host_bridge.core.codes import BoxPairing
from host_bridge.link.protocol import units, wire
from tests.support.evidence import some

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
    aux=(0.0, 1.0, 0.2, 0.0),
)


def test_every_message_of_a_car_has_its_report():
    for kind in messages.TO_HOST:
        fields = {
            r[0]: bytes(int(r[1][1:])) if r[1][0] == "b" else max(r[2], 0) for r in kind.FIELDS
        }
        if "action" in fields:
            fields["action"] = 1
        if "rc_mode" in fields:
            fields["rc_mode"] = 255
        units.report_of(wire.new(kind, **fields))
    for kind in some(set(messages.TO_BOARD) - {messages.Claim}):  # which is said both ways
        with pytest.raises(KeyError):
            units.report_of(kind())


def filled(kind, **given):
    fields = {r[0]: bytes(int(r[1][1:])) if r[1][0] == "b" else max(r[2], 0) for r in kind.FIELDS}
    return wire.new(kind, **{**fields, **given})


def test_a_status_is_in_si_units():
    status = filled(
        messages.Status,
        time_us=9_000,
        state=2,
        causes=0b110,
        first_cause=2,
        faults=1,
        profile=2,
        steering_source=3,
        drive_source=4,
        brake_source=NOBODY,
        steer_50urad=-5_000,
        target_mm_s=1500,
        brake=51,
        speed_mm_s=-1250,
        claim_slot=1,
        claim_sequence=500,
        claim_count=400,
        claim_crc=b"\x04\x03\x02\x01",
        applied_10us=70,
    )
    assert units.report_of(status) == CarStatus(
        time_us=9_000,
        state=State.ACTIVE,
        causes=(Cause.STOP_REQUEST, Cause.FROZEN_INPUT),
        first_cause=Cause.FROZEN_INPUT,
        faults=(Fault.CONFIGURATION,),
        profile=Profile.RACE,
        steering_source=3,
        drive_source=4,
        brake_source=None,
        steer_rad=pytest.approx(-0.25),
        target_mps=pytest.approx(1.5),
        brake=pytest.approx(0.2),
        speed_mps=pytest.approx(-1.25),
        claim_slot=1,
        claim_sequence=500,
        claim_count=400,
        claim_crc=0x01020304,
        applied_us=8_300,
    )


def test_motion_is_in_si_units_and_its_heading_within_half_a_turn():
    motion = filled(
        messages.Motion,
        captured_us=1,
        count_left=-2,
        count_right=3,
        distance_mm=4000,
        x_mm=-5000,
        y_mm=6000,
        yaw_urad=6_183_185,
        yaw_rate_mrad_s=-700,
        accel_x_mm_s2=800,
        accel_y_mm_s2=-900,
    )
    found = astuple(units.report_of(motion))
    assert found == pytest.approx((1, -2, 3, 4.0, -5.0, 6.0, -0.1, -0.7, 0.8, -0.9), abs=1e-5)


@pytest.mark.parametrize(
    ("number", "device"),
    [(0, Device.UNKNOWN), (1, Device.CAR), (2, Device.RUNSTOP_BOX), (200, Device(200))],
)
def test_a_device_of_any_kind_is_named_whatever_it_says_besides(number, device):
    """What is reserved today may be said by a device that is still to be built."""
    given = {"device": number, "layout": 1, "car_name": b"x".ljust(16, b"\0")}
    for flags, is_virtual in ((0, False), (1, True), (0xFFFE, False), (0xFFFF, True)):
        found = units.report_of(filled(messages.Identity, flags=flags, **given))
        assert (found.device, found.is_virtual, found.car_name) == (device, is_virtual, "x")


def test_inputs_outputs_and_power_are_told_by_place():
    inputs = units.report_of(
        filled(
            messages.Inputs,
            runstop_closed=1,
            charger_pairing=1 | BoxPairing.MOVED << 1,
            fresh=0b101,
            held=0b100,
            engaged=0b1,
            causes_present=0b1000000,
            stop_fresh=0b1001,
            stop_said=0b1000,
            rc_mode=1,
            imu_answers=1,
            step_10us=7,
            cause_age_ms=192_400,
            fault_age_ms=1_000_000_000,
            beat_100us=100,
            takes_100us=114,
            missed=500,
            missed_lately=88,
        )
    )
    expected = ((0, 2), (2,), (0,), (Cause.CHARGER,), (0, 3), (3,), RcMode.MANUAL, True, 70)
    expected += (
        pytest.approx(192.4),
        pytest.approx(1e6),
        10_000,
        11_400,
        500,
        88,
        BoxPairing.MOVED,
    )
    assert inputs == Inputs(True, False, True, *expected)
    no_signal = units.report_of(filled(messages.Inputs, rc_mode=255))
    assert no_signal.rc_mode is None
    assert units.report_of(filled(messages.Second, began_us=9)) == Second(9)
    vesc = filled(messages.VescState, tells=1, status=2, timeout_ms=120, brake_ma=20_500)
    assert units.report_of(vesc) == VescState(True, False, True, 0.12, 20.5)
    assert units.report_of(filled(messages.VescState)).timeout_s is None
    outputs = units.report_of(
        filled(
            messages.Outputs,
            enable=1,
            channel_0=-9,
            channel_7=8,
            lights=5,
            lights_source=2,
            aux_1_source=NOBODY,
            aux_2_source=3,
            cap_mm_s=1500,
        )
    )
    channels = (-9, 0, 0, 0, 0, 0, 0, 8)
    assert outputs == Outputs(True, channels, 5, 2, (None, 3, 0, 0), pytest.approx(1.5))
    power = units.report_of(filled(messages.Power, battery_mv=11_100, stage=1))
    assert power == Power(pytest.approx(11.1), BatteryStage.LOW, None)
    warm = units.report_of(filled(messages.Power, battery_mv=11_100, stage=0, temperature_c=61))
    assert warm.temperature_c == 61.0


def test_replies_keep_what_they_say():
    given = {"refusals": 0b10, "causes_present": 0b1, "stop_sources": 0b10010}
    reply = filled(messages.ActReply, epoch=9, action=2, nonce=8, **given)
    assert units.report_of(reply) == ActionReply(
        9, Action.CLEAR, 8, (Refusal.STATE,), (Cause.RUNSTOP_LOOP,), (1, 4)
    )
    clock = filled(messages.ClockReport, epoch=9, slot=1, offset_us=77, bound_us=88)
    assert units.report_of(clock) == ClockReport(9, 1, 77, 88)
    clock.bound_us = 65535
    assert units.report_of(clock).bound_us is None
    bound = units.report_of(filled(messages.Bound, epoch=9, slot=3, result=0))
    assert (bound.slot, bound.result) == (3, BindResult.BOUND)
    bound = units.report_of(filled(messages.Bound, epoch=9, slot=255, result=1))
    assert (bound.slot, bound.result) == (None, BindResult.PROTOCOL_MISMATCH)
    bound = units.report_of(filled(messages.Bound, epoch=9, slot=255, result=2))
    assert (bound.slot, bound.result) == (None, BindResult.NO_SLOT)


def test_a_claim_survives_the_wire():
    message = units.claim_message(CLAIM, 99)
    again = units.claim_of(wire.MessageDecoder().feed(wire.encode(message))[0])
    assert again == replace(CLAIM, stamp_us=17, input_count=70_000 & 0xFFFF)


@pytest.mark.parametrize("steer_rad", [1.1, -1.1])
def test_a_claim_beyond_the_wire_s_range_is_refused_by_name(steer_rad):
    message = units.claim_message(replace(CLAIM, steer_rad=steer_rad), 1)
    with pytest.raises(ValueError, match=r"Claim.steer_urad: expected -1000000 to 1000000 urad"):
        wire.encode(message)


def test_an_unknown_code_is_named_by_its_number_in_any_message():
    status = {r[0]: b"1234" if r[1] == "b4" else 0 for r in messages.Status.FIELDS}
    state = units.report_of(wire.new(messages.Status, **{**status, "state": 99})).state
    assert (state.name, int(state), state in list(State)) == ("unknown (99)", 99, False)
    seen = wire.new(
        messages.StopSeen, token=1, state=99, sender=88, sender_name=b"x".ljust(16, b"\0")
    )
    report = units.report_of(seen)
    assert (report.state, report.sender_name) == (state, "x")
    assert report.sender is not None
    assert report.sender.name == "unknown (88)"


def test_nobody_is_none_and_an_old_claim_has_no_time():
    fields = {r[0]: b"1234" if r[1] == "b4" else 0 for r in messages.Status.FIELDS}
    fields |= {"drive_source": NOBODY, "first_cause": 255, "time_us": 5, "applied_10us": 1}
    status = units.report_of(wire.new(messages.Status, **fields))
    assert (status.state, status.drive_source, status.first_cause) == (State.STARTING, None, None)
    assert status.applied_us == TIME_MASK - 4
    fields["applied_10us"] = 65535
    assert units.report_of(wire.new(messages.Status, **fields)).applied_us is None


def test_a_name_is_cut_between_characters_and_comes_back():
    assert units.text_of(units.name_field("Lenkachse süß ÄÖÜ")) == "Lenkachse süß "
    assert len(units.name_field("ü" * 20)) == 16
    assert units.text_of(b"\xff\xfe") == "\ufffd\ufffd"
