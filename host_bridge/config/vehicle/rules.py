"""Rules across several keys of a vehicle file: all of them, and those about its drive and body."""

from __future__ import annotations

from collections.abc import Iterator
from math import floor, sqrt
from typing import Any

from host_bridge.config.vehicle.compilation import motion_every
from host_bridge.config.vehicle.document import VehicleDocument
from host_bridge.config.vehicle.encoder_rules import check_encoders
from host_bridge.config.vehicle.geometry import check_steering_rate
from host_bridge.config.vehicle.schema import PARAMETERS
from host_bridge.config.vehicle.source_rules import (
    check_blind,
    check_blind_at_all,
    check_human_stop,
    check_lease,
    check_permission,
    check_priorities,
    check_receiver,
    check_stop_silence,
    offered_profiles,
)
from host_bridge.config.vehicle.unaided import check_unaided
from host_bridge.core.errors import VehicleFileFault

_STEPS_MS = range(10, 21)  # the control periods with which `tandem faults` was run and held


def check_tables(document: VehicleDocument, tables: dict[str, Any]) -> None:
    """Check all rules. Raises VehicleFileFault at the first contradiction."""
    for rule in _RULES:
        rule(document, tables)
    for name, source in tables["sources"].items():
        for check in (check_lease, check_blind, check_permission):
            check(document, f"sources.{name}", source, tables)


def _profile(document: VehicleDocument, tables: dict[str, Any]) -> None:
    given, offered = tables["stop"]["profile"], offered_profiles(tables)
    if given not in offered:
        raise document.fault(
            "stop.profile",
            "this vehicle has no such profile",
            expected=f"one of {', '.join(offered) or 'none'}, as in [profiles]",
            got=given,
            remedy=f"add [profiles.{given}] with a speed_cap_mps above 0",
        )


def _cut(document: VehicleDocument, tables: dict[str, Any]) -> None:
    """Refuse a speed from which the car goes too far without the drive's power.

    A button, a hang or a reset takes that power.
    """
    stop = tables["stop"]
    fastest_mps, profile = max(
        (tables["profiles"][name]["speed_cap_mps"], name) for name in offered_profiles(tables)
    )
    metres = fastest_mps**2 / (2.0 * stop["cut_decel_mps2"])
    if metres > stop["cut_max_m"]:
        most_mps = floor(10.0 * sqrt(2.0 * stop["cut_decel_mps2"] * stop["cut_max_m"])) / 10.0
        raise document.fault(
            f"profiles.{profile}.speed_cap_mps",
            "without the drive's power it would go too far from there",
            expected=f"{most_mps:g} or less: {stop['cut_max_m']:g} m at {stop['cut_decel_mps2']:g} "
            f"m/s² ({document.where('stop.cut_decel_mps2')})",
            got=f"{fastest_mps:g}, from which it goes {metres:.1f} m",
            remedy="lower it, fit a brake that needs no drive, or say a larger cut_max_m; "
            "hardware/stopping.md says what each drive can do",
        )


def _loop_brake(document: VehicleDocument, tables: dict[str, Any]) -> None:
    """Refuse an off-delay for a drive that cannot brake by its motor while it still has power."""
    seconds = tables["stop"]["loop_brake_s"]
    kinds = {channel["kind"] for channel in tables["channels"]}
    if seconds == 0.0 or ("esc" in kinds and tables["encoder"]["is_signed"]):
        return
    raise document.fault(
        "stop.loop_brake_s",
        "this vehicle cannot brake by its drive while the runstop loop is open",
        expected="0: without an ESC, or encoders that tell the direction, the loop cuts at once",
        got=f"{seconds:g}",
        remedy="take it out; hardware/stopping.md says what brakes such a drive",
    )


def _speeds(document: VehicleDocument, tables: dict[str, Any]) -> None:
    full_mps = tables["drive"]["full_effort_mps"]
    for name in ("speed_max_mps", "reverse_max_mps"):
        if tables["limits"][name] > full_mps:
            raise document.fault(
                f"limits.{name}",
                "this limit is beyond what full effort gives",
                expected=f"{full_mps:g} ({document.where('drive.full_effort_mps')}) or less",
                got=f"{tables['limits'][name]:g}",
                remedy="lower the limit",
            )


def _direction(document: VehicleDocument, tables: dict[str, Any]) -> None:
    """Refuse reversing without signed encoders.

    A speed loop needs the sign of the measured speed.
    """
    reverse_mps = tables["limits"]["reverse_max_mps"]
    if reverse_mps > 0 and not tables["encoder"]["is_signed"]:
        raise document.fault(
            "limits.reverse_max_mps",
            "this vehicle cannot tell backward from forward",
            expected=f"0: its encoders tell no direction ({document.where('encoder.is_signed')})",
            got=f"{reverse_mps:g}",
            remedy="write 0, or fit encoders that tell the direction",
        )


def _battery(document: VehicleDocument, tables: dict[str, Any]) -> None:
    low_v, empty_v = tables["battery"]["low_v"], tables["battery"]["empty_v"]
    if empty_v > low_v:
        raise document.fault(
            "battery.empty_v",
            "the battery is empty before it is low",
            expected=f"low_v ({low_v:g}) or less",
            got=f"{empty_v:g}",
            remedy="exchange them",
        )


def _step(document: VehicleDocument, tables: dict[str, Any]) -> None:
    """Refuse a control period with which the stopping limits are not verified."""
    step_s = tables["timing"]["step_s"]
    if round(step_s * 1e6) not in [ms * 1000 for ms in _STEPS_MS]:
        raise document.fault(
            "timing.step_s",
            "for a step of this length it is not shown that the car stops within its limits",
            expected=f"{_STEPS_MS[0] / 1e3:g} to {_STEPS_MS[-1] / 1e3:g}, in whole milliseconds: "
            "`tandem faults` holds with these",
            got=f"{step_s:g}",
            remedy="write 0.01",
        )


def _baud(document: VehicleDocument, tables: dict[str, Any]) -> None:
    timing = tables["timing"]
    try:
        motion_every(timing["baud"], timing["step_s"], tables["rc"] is not None)
    except ValueError as error:
        raise document.fault(
            "timing.baud",
            "this line is too slow for what the car reports",
            expected="room for a Status in each step",
            got=str(error),
            remedy="raise baud, or step_s",
        ) from error


_RULES = (
    _profile,
    check_human_stop,
    check_blind_at_all,
    check_stop_silence,
    _cut,
    check_unaided,
    _loop_brake,
    check_receiver,
    _speeds,
    check_steering_rate,
    _direction,
    check_encoders,
    _battery,
    _step,
    _baud,
    check_priorities,
)


def check_parameters(document: VehicleDocument, parameters: dict[str, list[int]]) -> None:
    """Check that the parameters computed from several keys fit the car's program."""
    for fault in _misfits(document, parameters):
        raise fault


_COMPUTED_FROM = {
    "nm_per_count": "encoder.counts_per_rev",
    "curvature_per_10km": "limits.steer_max_rad",
}


def _misfits(
    document: VehicleDocument, parameters: dict[str, list[int]]
) -> Iterator[VehicleFileFault]:
    for name, values in parameters.items():
        _, unit, _, low, high, _ = PARAMETERS[name]
        for value in values:
            if not low <= value <= high:
                yield document.fault(
                    _COMPUTED_FROM.get(name, name),
                    f"this makes a {name} that the car's program does not take",
                    expected=f"{low} to {high} {unit}",
                    got=str(value),
                    remedy="check it and the geometry it goes with",
                )
