"""Compiler from the checked tables of a vehicle file to the parameters of the car's program."""

from __future__ import annotations

from collections.abc import Callable
from math import pi
from typing import Any

from firmware.core.settings.params import CHANNELS, CURVE_POINTS, SOURCES, STOP_SOURCES, TABLE
from firmware.protocol import codes
from host_bridge.config.vehicle import schema
from host_bridge.config.vehicle.channels import CompiledChannel
from host_bridge.config.vehicle.geometry import SteeringGeometry, curve_angles_rad
from host_bridge.config.vehicle.schema import (
    ACTUATOR_BITS,
    FAULTS,
    NEEDS,
    ON_SILENCE,
    PROFILES,
    RC_CHANNELS,
    SENDERS,
    SOURCE_IDS,
    STOP_CAUSES,
    STOP_POLICIES,
    TABLES,
)
from host_bridge.core import NOBODY

# The longest frame of each kind in bytes, delimiters included
STATUS_BYTES, MOTION_BYTES, SLOW_BYTES, EVENT_BYTES, CLAIM_BYTES = 40, 42, 49, 23, 37
_RC_FRAMES_HZ = 50  # the rate of servo pulses; each makes a claim of the car's own
_BITS_PER_BYTE = 10  # start, eight, stop
_FILL = 0.9  # the share for reports; the rest is for identity, parameters, acknowledged stops


def motion_every(baud: int, step_s: float, has_rc: bool = False) -> int:
    """Return in how many steps one Motion and one slow message fit on the line.

    Each step has a Status and an Event besides, and with a receiver its claims. n steps have n *
    baud / 10 * step_s bytes, of which a tenth stays free. Raises ValueError if the line is too
    slow for the Status alone.
    """
    each_step = STATUS_BYTES + EVENT_BYTES + CLAIM_BYTES * _RC_FRAMES_HZ * step_s * has_rc
    room = baud / _BITS_PER_BYTE * step_s * _FILL - each_step
    if room <= 0:
        need = each_step * _BITS_PER_BYTE / step_s / _FILL
        raise ValueError(f"{baud} baud; a Status in each step of {step_s:g} s needs {need:.0f}")
    return max(1, int(-(-(MOTION_BYTES + SLOW_BYTES) // room)))


def compile_parameters(
    tables: dict[str, Any], channels: list[CompiledChannel], geometry: SteeringGeometry
) -> dict[str, list[int]]:
    """Return all parameters by name, except the board's id, which is a car's and not a type's."""
    parameters = {name: [default] * many for name, _, many, _, _, default in TABLE}
    del parameters["board_id"]
    parameters.update(_scalars(tables))
    parameters.update(_derived(tables, geometry))
    parameters.update(_stopping(tables))
    parameters.update(_source_columns(tables["sources"]))
    parameters.update(_receiver(tables["rc"]))
    parameters.update(_channel_columns(channels))
    return parameters


def _scalars(tables: dict[str, Any]) -> dict[str, list[int]]:
    return {
        key.parameter: [round(tables[table][key.name] * key.scale)]
        for table, keys in TABLES.items()
        for key in keys
        if key.parameter
    }


def _derived(tables: dict[str, Any], geometry: SteeringGeometry) -> dict[str, list[int]]:
    limits, timing = tables["limits"], tables["timing"]
    turn_m = 2 * pi * tables["geometry"]["wheel_radius_m"]
    curvatures = map(geometry.curvature_per_m, curve_angles_rad(limits["steer_max_rad"]))
    return {
        "motion_every": [motion_every(timing["baud"], timing["step_s"], tables["rc"] is not None)],
        "steer_in_stop": [schema.STEERING_IN_STOP.index(tables["stop"]["steering"])],
        "aux_in_stop": [sum(ACTUATOR_BITS[name] for name in set(tables["stop"]["aux"]))],
        "steer_centres": [int(limits["steer_with_nobody"] == "centre")],
        "nm_per_count": [round(turn_m / tables["encoder"]["counts_per_rev"] * 1e9)],
        "encoder_signed": [int(tables["encoder"]["is_signed"])],
        "runaway_mm_s": [_runaway_mm_s(limits["speed_max_mps"])],
        "gyro_fitted": [int(tables["imu"]["gyro_fitted"])],
        "curvature_per_10km": [round(curvature * 1e4) for curvature in curvatures],
    }


def _runaway_mm_s(speed_max_mps: float) -> int:
    """Return the excess over the commanded speed that is a runaway: a fifth of the top speed.

    It is never less than 0.15 m/s, nor more than 1 m/s.
    """
    # Chosen: less would take a drive's overshoot for a runaway, more would let one grow
    return round(min(max(0.2 * speed_max_mps, 0.15), 1.0) * 1e3)


# The default stop policy by fault; others are cut. An encoder in doubt brakes by the brake
# channel only, so a car without one coasts; what may have lost control is cut.
_FAULT_POLICIES = {"over_temperature": "brake", "encoder": "brake", "no_motion": "neutral",
                   "too_fast": "neutral", "brown_out": "neutral"}  # fmt: skip


def fault_policies(stop: dict[str, Any]) -> dict[str, str]:
    """Return the stop policy by fault."""
    given = stop["fault_policies"]
    return {fault: given[fault] or _FAULT_POLICIES.get(fault, "cut") for fault in FAULTS}


def _stopping(tables: dict[str, Any]) -> dict[str, list[int]]:
    stop, caps = tables["stop"], tables["profiles"]
    policies = [stop["policies"][cause] or stop["policy"] for cause in STOP_CAUSES]
    columns = {
        "stop_policy": [STOP_POLICIES.index(policy) for policy in policies],
        "fault_policy": [STOP_POLICIES.index(policy) for policy in fault_policies(stop).values()],
        "stop_source_kind": [0] * STOP_SOURCES,
        # ms; a source that the vehicle file does not have is not heard anyway
        "stop_source_silence_ms": [250] * STOP_SOURCES,
        "stop_source_policy": [0] * STOP_SOURCES,
        "stop_source_need": [0] * STOP_SOURCES * len(PROFILES),
        "profile_default": [PROFILES.index(stop["profile"])],
        "profile_cap_mm_s": [
            round(caps[profile]["speed_cap_mps"] * 1e3) if profile in caps else 0
            for profile in PROFILES
        ],
        "may_arm": [sum(1 << SENDERS.index(sender) for sender in set(stop["may_arm"]))],
        "may_clear": [sum(1 << SENDERS.index(sender) for sender in set(stop["may_clear"]))],
    }
    for name, source in stop["sources"].items():
        kind = schema.STOP_SOURCES[name]
        columns["stop_source_kind"][kind.id] = kind.kind
        columns["stop_source_silence_ms"][kind.id] = round(source["silence_s"] * 1e3)
        columns["stop_source_policy"][kind.id] = STOP_POLICIES.index(source["policy"])
        for i, profile in enumerate(PROFILES):
            columns["stop_source_need"][i * STOP_SOURCES + kind.id] = NEEDS.index(source[profile])
    return columns


def _receiver(rc: dict[str, Any] | None) -> dict[str, list[int]]:
    if rc is None:
        return {}
    ends = ("rc_low_us", "rc_centre_us", "rc_high_us")
    columns = {name: [rc[channel][i] for channel in RC_CHANNELS] for i, name in enumerate(ends)}
    return {**columns, "rc_fitted": [1], "rc_dead_band": [round(rc["dead_band"] * 1e3)]}


def _source_columns(sources: dict[str, dict[str, Any]]) -> dict[str, list[int]]:
    columns = {
        "source_" + name: [NOBODY if name in ("needs", "kill_switch") else 0] * SOURCES
        for name in _SOURCE_COLUMNS
    }
    for name, source in sources.items():
        for column, value in _SOURCE_COLUMNS.items():
            columns["source_" + column][SOURCE_IDS[name]] = value(source)
    return columns


def source_mask(source: dict[str, Any]) -> int:
    """Return the actuators that a source may claim, as bits."""
    return sum(ACTUATOR_BITS[actuator] for actuator in set(source["actuators"]))


def _source_flags(source: dict[str, Any]) -> int:
    attended, counter = bool(source["attended"]), bool(source["counter"])
    return codes.SOURCE_ATTENDED * attended | codes.SOURCE_HAS_COUNTER * counter


_SOURCE_COLUMNS: dict[str, Callable[[dict[str, Any]], int]] = {
    "mask": source_mask,
    "priority": lambda source: source["priority"],
    "lease_ms": lambda source: round(source["lease_s"] * 1e3),
    "cap_mm_s": lambda source: round(source["speed_cap_mps"] * 1e3),
    "flags": _source_flags,
    "on_silence": lambda source: ON_SILENCE.index(source["on_silence"]),
    "needs": lambda source: SOURCE_IDS[source["needs"]] if source["needs"] else NOBODY,
    "kill_switch": lambda source: (
        schema.STOP_SOURCES[source["kill_switch"]].id if source["kill_switch"] else NOBODY
    ),
    "repress_ms": lambda source: round(source["repress_s"] * 1e3),
}


def _channel_columns(channels: list[CompiledChannel]) -> dict[str, list[int]]:
    padded = channels + [CompiledChannel(0)] * (CHANNELS - len(channels))
    curves = [channel.curve or [0] * CURVE_POINTS for channel in padded]
    return {
        "channel_kind": [channel.kind for channel in padded],
        "channel_low": [channel.low for channel in padded],
        "channel_neutral": [channel.neutral for channel in padded],
        "channel_high": [channel.high for channel in padded],
        "channel_actuator": [channel.actuator for channel in padded],
        "channel_curve": [pulse_ns for curve in curves for pulse_ns in curve],
    }
