"""The conversion between the wire's integers and SI values, for both directions.

Wire: urad, mm/s, mm, mrad/s, mm/s^2, mV, ms. Here: rad, m/s, m, rad/s, m/s^2, V, s. A level is 255
on the wire and 1.0 here.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from firmware.protocol import codes as wire_codes
from firmware.protocol import messages
from firmware.protocol.codec import Message
from host_bridge.core import codes, commands, reports
from host_bridge.core.board_time import TIME_MASK
from host_bridge.core.codes import NOBODY, members
from host_bridge.core.system.printable import one_line
from host_bridge.link.protocol.wire import encode, new

_UNKNOWN_BOUND_US = 65535
_APPLIED_MAX_10US = 65535  # the car saturates there
_NO_SIGNAL = 255  # no RC transmitter is received
_AUX = ("aux_1", "aux_2", "aux_3", "aux_4")
# An enumeration looks a member up in ten times as long; a car says few numbers, but may say any
_state = lru_cache(maxsize=256)(codes.State)
_profile = lru_cache(maxsize=256)(codes.Profile)
_HELD, _PERMITS_AUTONOMY = int(codes.Deadman.HELD), int(codes.Deadman.PERMITS_AUTONOMY)

Report = reports.Report


def text_of(field: bytes | bytearray) -> str:
    """Return a zero-padded name as printable text on one line, whatever bytes it has."""
    return one_line(bytes(field).rstrip(b"\0").decode("utf-8", "replace"))


def name_field(text: str, size: int = 16) -> bytes:  # as in each message that has a name
    """Return ``text`` in ``size`` bytes of UTF-8, cut between characters."""
    data = text.encode()[:size].decode("utf-8", "ignore").encode()
    return data.ljust(size, b"\0")


def _source(number: int) -> int | None:
    return None if number == NOBODY else number


def _places(bits: int) -> tuple[int, ...]:
    return tuple(place for place in range(bits.bit_length()) if bits >> place & 1)


def _identity(m: messages.Identity) -> reports.CarIdentity:
    return reports.CarIdentity(
        text_of(m.car_name),
        bytes(m.board_id),
        bytes(m.protocol_hash),
        bytes(m.config_hash),
        codes.State(m.state),
        codes.Device(m.device),
        bool(m.flags & wire_codes.IDENTITY_VIRTUAL),
    )


def _stop_seen(m: messages.StopSeen) -> reports.StopSeen:
    return reports.StopSeen(
        m.token,
        codes.State(m.state),
        codes.Sender(m.sender),
        text_of(m.sender_name),
    )


def _status(m: messages.Status) -> reports.CarStatus:
    is_recent = m.applied_10us < _APPLIED_MAX_10US
    return reports.CarStatus(
        m.time_us,
        _state(m.state),
        members(codes.Cause, m.causes),
        None if m.first_cause == wire_codes.NO_CAUSE else codes.Cause(m.first_cause),
        members(codes.Fault, m.faults),
        _profile(m.profile),
        _source(m.steering_source),
        _source(m.drive_source),
        _source(m.brake_source),
        m.steer_50urad * 50e-6,  # the field's unit is 50 urad
        m.target_mm_s / 1e3,
        m.brake / 255,
        m.speed_mm_s / 1e3,
        m.claim_slot,
        m.claim_sequence,
        m.claim_count,
        int.from_bytes(m.claim_crc, "little"),
        m.time_us - m.applied_10us * 10 & TIME_MASK if is_recent else None,
    )


def _motion(m: messages.Motion) -> reports.CarMotion:
    return reports.CarMotion(
        m.captured_us,
        m.count_left,
        m.count_right,
        m.distance_mm / 1e3,
        m.x_mm / 1e3,
        m.y_mm / 1e3,
        math.remainder(m.yaw_urad / 1e6, math.tau),
        m.yaw_rate_mrad_s / 1e3,
        m.accel_x_mm_s2 / 1e3,
        m.accel_y_mm_s2 / 1e3,
    )


def _clock(m: messages.ClockReport) -> reports.ClockReport:
    bound_us = None if m.bound_us == _UNKNOWN_BOUND_US else m.bound_us
    return reports.ClockReport(m.epoch, m.slot, m.offset_us, bound_us)


def _bound(m: messages.Bound) -> reports.SessionBound:
    return reports.SessionBound(
        m.epoch,
        m.slot if m.result == codes.BindResult.BOUND else None,
        codes.BindResult(m.result),
        bytes(m.protocol_hash),
        bytes(m.config_hash),
    )


def _act_reply(m: messages.ActReply) -> reports.ActionReply:
    return reports.ActionReply(
        m.epoch,
        codes.Action(m.action),
        m.nonce,
        members(codes.Refusal, m.refusals),
        members(codes.Cause, m.causes_present),
        _places(m.stop_sources),
    )


def _inputs(m: messages.Inputs) -> reports.Inputs:
    return reports.Inputs(
        bool(m.runstop_closed),
        bool(m.enable_contact),
        bool(m.charger_pairing & 1),
        _places(m.fresh),
        _places(m.held),
        _places(m.engaged),
        members(codes.Cause, m.causes_present),
        _places(m.stop_fresh),
        _places(m.stop_said),
        None if m.rc_mode == _NO_SIGNAL else codes.RcMode(m.rc_mode),
        bool(m.imu_answers),
        m.step_10us * 10,
        m.cause_age_ms / 1e3,
        m.fault_age_ms / 1e3,
        m.beat_100us * 100,
        m.takes_100us * 100,
        m.missed,
        m.missed_lately,
        codes.BoxPairing(m.charger_pairing >> 1),
    )


def _event(m: messages.Event) -> reports.CarEvent:
    return reports.CarEvent(m.number, m.time_us, codes.EventCode(m.code), m.a, m.b)


def _power(m: messages.Power) -> reports.Power:
    return reports.Power(
        m.battery_mv / 1e3, codes.BatteryStage(m.stage), float(m.temperature_c) or None
    )


def _outputs(m: messages.Outputs) -> reports.Outputs:
    channels = tuple(getattr(m, row[0]) for row in m.FIELDS if row[0].startswith("channel_"))
    return reports.Outputs(
        bool(m.enable),
        channels,
        m.lights,
        _source(m.lights_source),
        tuple(_source(getattr(m, f"{name}_source")) for name in _AUX),
        m.cap_mm_s / 1e3,
    )


def _vesc(m: messages.VescState) -> reports.VescState:
    timeout_s = m.timeout_ms / 1e3 if m.timeout_ms else None
    bits = _places(m.status)
    return reports.VescState(bool(m.tells), 0 in bits, 1 in bits, timeout_s, m.brake_ma / 1e3)


def _counters(m: messages.LinkCounters) -> reports.LinkCounters:
    return reports.LinkCounters(*(getattr(m, row[0]) for row in m.FIELDS))


def _own_claim(m: messages.Claim) -> reports.OwnClaim:
    """Return the car's own claim with its frame.

    A payload has one frame only, so encoding it anew gives the car's bytes exactly.
    """
    return reports.OwnClaim(m.epoch, claim_of(m), encode(m))


def _committed(m: messages.Committed) -> reports.Committed:
    return reports.Committed(m.result, m.where, bytes(m.config_hash))


_FROM_WIRE: dict[type[Message], Callable[[Any], Report]] = {
    messages.Identity: _identity,
    messages.StopSeen: _stop_seen,
    messages.Bound: _bound,
    messages.Status: _status,
    messages.Motion: _motion,
    messages.ClockReport: _clock,
    messages.ActReply: _act_reply,
    messages.Event: _event,
    messages.EventsLost: lambda m: reports.EventsLost(m.first, m.count),
    messages.Parameter: lambda m: reports.ParameterReply(m.index, m.value, m.result),
    messages.Committed: _committed,
    messages.LinkCounters: _counters,
    messages.Inputs: _inputs,
    messages.Power: _power,
    messages.Outputs: _outputs,
    messages.VescState: _vesc,
    messages.Second: lambda m: reports.Second(m.began_us),
    messages.Claim: _own_claim,
}


def report_of(message: Message) -> Report:
    """Return a car's message in SI units. Raises KeyError for a message of a host.

    A Claim is taken for the car's own.
    """
    return _FROM_WIRE[type(message)](message)


def claim_message(claim: commands.Claim, epoch: int) -> messages.Claim:
    """Return a claim for the wire. Raises ValueError if a value is not a finite number."""
    held = _HELD if claim.is_held else 0
    permits = _PERMITS_AUTONOMY if claim.permits_autonomy else 0
    return new(
        messages.Claim,
        epoch=epoch,
        source=claim.source_id,
        sequence=claim.sequence,
        mask=claim.mask,
        steer_urad=round(claim.steer_rad * 1e6),
        speed_mm_s=round(claim.speed_mps * 1e3),
        brake=round(claim.brake * 255),
        lights=claim.lights,
        **{name: round(level * 255) for name, level in zip(_AUX, claim.aux, strict=True)},
        deadman=held | permits,
        input_count=claim.input_count & 0xFFFF,
        lease_ms=round(claim.lease_s * 1e3),
        stamp_us=claim.stamp_us & TIME_MASK,
    )


def claim_of(message: messages.Claim) -> commands.Claim:
    """Return a claim off the wire in SI units; its stamp stays modulo 2**30."""
    return commands.Claim(
        source_id=message.source,
        sequence=message.sequence,
        mask=message.mask,
        steer_rad=message.steer_urad / 1e6,
        speed_mps=message.speed_mm_s / 1e3,
        brake=message.brake / 255,
        is_held=bool(message.deadman & codes.Deadman.HELD),
        lease_s=message.lease_ms / 1e3,
        stamp_us=message.stamp_us,
        permits_autonomy=bool(message.deadman & codes.Deadman.PERMITS_AUTONOMY),
        input_count=message.input_count,
        lights=message.lights,
        aux=tuple(getattr(message, name) / 255 for name in _AUX),
    )
