"""From the checked tables of a vehicle file to the parameters of the car's program."""

from __future__ import annotations

from collections.abc import Callable
from math import pi
from typing import Any

from firmware.core.params import CHANNELS, CURVE_POINTS, SOURCES, TABLE
from host_bridge.config.channels import Channel
from host_bridge.config.geometry import SteeringGeometry, curve_angles_rad
from host_bridge.config.schema import (
    ACTUATOR_BITS,
    ON_SILENCE,
    SOURCE_IDS,
    STOP_CAUSES,
    STOP_POLICIES,
    TABLES,
)
from host_bridge.domain import NOBODY

_ATTENDED, _COUNTER = 1, 2

# Bytes of the longest frame of each kind, delimiters included
STATUS_BYTES, MOTION_BYTES, SLOW_BYTES, EVENT_BYTES = 40, 42, 41, 23
_BITS_PER_BYTE = 10  # start, eight, stop
_FILL = 0.9  # the rest is for answers: identity, parameters, acknowledged stops


def motion_every(baud: int, step_s: float) -> int:
    """In how many steps one Motion and one slow message fit, beside a Status and an Event in each.

    n steps have n * baud / 10 * step_s bytes; a tenth of them stays free. Raises ValueError if the
    line is too slow for the Status alone.
    """
    room = baud / _BITS_PER_BYTE * step_s * _FILL - STATUS_BYTES - EVENT_BYTES
    if room <= 0:
        need = (STATUS_BYTES + EVENT_BYTES) * _BITS_PER_BYTE / step_s / _FILL
        raise ValueError(f"{baud} baud; a Status in each step of {step_s:g} s needs {need:.0f}")
    return max(1, int(-(-(MOTION_BYTES + SLOW_BYTES) // room)))


def compile_parameters(
    tables: dict[str, Any], channels: list[Channel], geometry: SteeringGeometry
) -> dict[str, list[int]]:
    """All parameters by name, but the board's id, which is of one car and not of its type."""
    parameters = {name: [default] * many for name, _, many, _, _, default in TABLE}
    del parameters["board_id"]
    parameters.update(_scalars(tables))
    parameters.update(_derived(tables, geometry))
    parameters.update(_source_columns(tables["sources"]))
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
    stop, limits, timing = tables["stop"], tables["limits"], tables["timing"]
    turn_m = 2 * pi * tables["geometry"]["wheel_radius_m"]
    curvatures = map(geometry.curvature_per_m, curve_angles_rad(limits["steer_max_rad"]))
    policies = [stop["policies"][cause] or stop["policy"] for cause in STOP_CAUSES]
    return {
        "motion_every": [motion_every(timing["baud"], timing["step_s"])],
        "stop_policy": [STOP_POLICIES.index(policy) for policy in policies],
        "runstop_fitted": [int("runstop_loop" in stop["sources"])],
        "steer_centres": [int(limits["steer_with_nobody"] == "centre")],
        "nm_per_count": [round(turn_m / tables["encoder"]["counts_per_rev"] * 1e9)],
        "encoder_signed": [int(tables["encoder"]["is_signed"])],
        "gyro_fitted": [int(tables["imu"]["gyro_fitted"])],
        "curvature_per_10km": [round(curvature * 1e4) for curvature in curvatures],
    }


def _source_columns(sources: dict[str, dict[str, Any]]) -> dict[str, list[int]]:
    columns = {
        "source_" + name: [NOBODY if name == "needs" else 0] * SOURCES for name in _SOURCE_COLUMNS
    }
    for name, source in sources.items():
        for column, value in _SOURCE_COLUMNS.items():
            columns["source_" + column][SOURCE_IDS[name]] = value(source)
    return columns


def source_mask(source: dict[str, Any]) -> int:
    """The actuators that a source may claim, as bits."""
    return sum(ACTUATOR_BITS[actuator] for actuator in set(source["actuators"]))


def _source_flags(source: dict[str, Any]) -> int:
    attended, counter = bool(source["attended"]), bool(source["counter"])
    return _ATTENDED * attended | _COUNTER * counter


_SOURCE_COLUMNS: dict[str, Callable[[dict[str, Any]], int]] = {
    "mask": source_mask,
    "priority": lambda source: source["priority"],
    "lease_ms": lambda source: round(source["lease_s"] * 1e3),
    "cap_mm_s": lambda source: round(source["speed_cap_mps"] * 1e3),
    "flags": _source_flags,
    "on_silence": lambda source: ON_SILENCE.index(source["on_silence"]),
    "needs": lambda source: SOURCE_IDS[source["needs"]] if source["needs"] else NOBODY,
}


def _channel_columns(channels: list[Channel]) -> dict[str, list[int]]:
    padded = channels + [Channel(0)] * (CHANNELS - len(channels))
    curves = [channel.curve or [0] * CURVE_POINTS for channel in padded]
    return {
        "channel_kind": [channel.kind for channel in padded],
        "channel_low": [channel.low for channel in padded],
        "channel_neutral": [channel.neutral for channel in padded],
        "channel_high": [channel.high for channel in padded],
        "channel_curve": [pulse_ns for curve in curves for pulse_ns in curve],
    }
