"""Rules across several keys of a vehicle file: contradictory limits, and the safety refusals."""

from __future__ import annotations

from collections.abc import Iterator
from math import floor, sqrt
from typing import Any

from firmware.core.settings.params import BLIND_MAX_MM
from host_bridge.config.vehicle.compilation import motion_every
from host_bridge.config.vehicle.document import Document
from host_bridge.config.vehicle.schema import PARAMETERS, PROFILES, STOP_SOURCES
from host_bridge.config.vehicle.unaided import check_unaided
from host_bridge.core.errors import VehicleFileFault

_LEASE_MAX_S = 0.3  # firmware/core/SAFETY.md; 1 s for sources no faster than _SLOW_MPS
_SLOW_MPS = 0.3
_STEPS_MS = range(10, 21)  # the control periods with which `tandem faults` was run and held


def check_tables(document: Document, tables: dict[str, Any]) -> None:
    """Check all rules. Raises VehicleFileFault at the first contradiction."""
    for rule in _RULES:
        rule(document, tables)
    for name, source in tables["sources"].items():
        for check in (_lease, _blind, _permission):
            check(document, f"sources.{name}", source, tables)


def _offered(tables: dict[str, Any]) -> list[str]:
    """Return the profiles in which this vehicle can be armed."""
    profiles = tables["profiles"]
    return [name for name in PROFILES if name in profiles and profiles[name]["speed_cap_mps"] > 0]


def _profile(document: Document, tables: dict[str, Any]) -> None:
    given, offered = tables["stop"]["profile"], _offered(tables)
    if given not in offered:
        raise document.fault(
            "stop.profile",
            "this vehicle has no such profile",
            expected=f"one of {', '.join(offered) or 'none'}, as in [profiles]",
            got=given,
            remedy=f"add [profiles.{given}] with a speed_cap_mps above 0",
        )


def _human_stop(document: Document, tables: dict[str, Any]) -> None:
    """Refuse a profile in which no person can stop the vehicle."""
    humans = [name for name, kind in STOP_SOURCES.items() if kind.is_human]
    given = tables["stop"]["sources"]
    for profile in _offered(tables):
        if not any(name in given and given[name][profile] != "no" for name in humans):
            raise document.fault(
                "stop.sources",
                f"no person can stop this vehicle in its profile {profile}",
                expected=f"at least one of {', '.join(humans)}, optional or required",
                got=", ".join(n for n in given if given[n][profile] != "no") or "nobody",
                remedy=f'write {profile} = "required" into a stop source that a person operates',
            )


def _stop_silence(document: Document, tables: dict[str, Any]) -> None:
    """Refuse a required stop source whose allowed silence is too long for the profile's speed."""
    for name, source in tables["stop"]["sources"].items():
        for profile in _offered(tables):
            cap_mps = tables["profiles"][profile]["speed_cap_mps"]
            is_slow = cap_mps <= _SLOW_MPS or source["silence_s"] <= _LEASE_MAX_S
            if source[profile] == "required" and not is_slow:
                raise document.fault(
                    f"stop.sources.{name}.silence_s",
                    f"this silence is too long for the speed of profile {profile}",
                    expected=f"{_LEASE_MAX_S} s or less, or a speed_cap_mps of {_SLOW_MPS}",
                    got=f"{source['silence_s']:g} s at {cap_mps:g} m/s",
                    remedy="shorten it; 0.25 suits a box that speaks at 50 Hz",
                )


def _cut(document: Document, tables: dict[str, Any]) -> None:
    """Refuse a speed from which the car goes too far without the drive's power.

    A button, a hang or a reset takes that power.
    """
    stop = tables["stop"]
    fastest_mps, profile = max(
        (tables["profiles"][name]["speed_cap_mps"], name) for name in _offered(tables)
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


def _loop_brake(document: Document, tables: dict[str, Any]) -> None:
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


def _receiver(document: Document, tables: dict[str, Any]) -> None:
    """Refuse sources that rely on a receiver which the file does not have."""
    if tables["rc"] is not None:
        return
    users = [f"sources.{name}" for name in tables["sources"] if name == "rc"]
    users += [f"stop.sources.{name}" for name in tables["stop"]["sources"] if name == "rc"]
    for path in users:
        raise document.fault(
            path,
            "this vehicle has no RC receiver",
            expected="[rc] with the pulses of its channels",
            got="nothing",
            remedy="add [rc], or take this table out",
        )


def _speeds(document: Document, tables: dict[str, Any]) -> None:
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


def _direction(document: Document, tables: dict[str, Any]) -> None:
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


def _battery(document: Document, tables: dict[str, Any]) -> None:
    low_v, empty_v = tables["battery"]["low_v"], tables["battery"]["empty_v"]
    if empty_v > low_v:
        raise document.fault(
            "battery.empty_v",
            "the battery is empty before it is low",
            expected=f"low_v ({low_v:g}) or less",
            got=f"{empty_v:g}",
            remedy="exchange them",
        )


def _step(document: Document, tables: dict[str, Any]) -> None:
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


def _baud(document: Document, tables: dict[str, Any]) -> None:
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


def _priorities(document: Document, tables: dict[str, Any]) -> None:
    taken: dict[int, str] = {}
    for name, source in tables["sources"].items():
        other = taken.setdefault(source["priority"], name)
        if other != name:
            raise document.fault(
                f"sources.{name}.priority",
                f"{name} and {other} have the same priority",
                expected="a priority of its own for each source; the higher wins",
                got=str(source["priority"]),
                remedy="say which of them wins",
            )


def _lease(document: Document, path: str, source: dict[str, Any], tables: dict[str, Any]) -> None:
    if source["lease_s"] > _LEASE_MAX_S and source["speed_cap_mps"] > _SLOW_MPS:
        raise document.fault(
            f"{path}.lease_s",
            "this lease is too long for a source of its speed",
            expected=f"{_LEASE_MAX_S} s or less, or a speed_cap_mps of {_SLOW_MPS} or less",
            got=f"{source['lease_s']:g} s at {source['speed_cap_mps']:g} m/s",
            remedy="shorten the lease; 0.12 suits claims at 100 Hz",
        )


def _blind_at_all(document: Document, tables: dict[str, Any]) -> None:
    """Refuse a ``blind_m`` beyond the board's own limit.

    The board enforces it whoever sends it parameters (firmware/core/settings/params.py).
    """
    blind_m, wheelbase_m = tables["stop"]["blind_m"], tables["geometry"]["wheelbase_m"]
    most_m = min(2 * wheelbase_m, BLIND_MAX_MM * 1e-3)
    if blind_m > most_m + 1e-9:
        raise document.fault(
            "stop.blind_m",
            "no vehicle of this size may be driven blind that far",
            expected=f"{most_m:.3g} m or less: two wheelbases, and never more than a metre",
            got=f"{blind_m:g} m",
            remedy="lower it, and with it the leases and caps of the sources",
        )


def _blind(document: Document, path: str, source: dict[str, Any], tables: dict[str, Any]) -> None:
    blind_m = tables["stop"]["blind_m"]
    lease_ms, cap_mm_s = round(source["lease_s"] * 1e3), round(source["speed_cap_mps"] * 1e3)
    if lease_ms * cap_mm_s > round(blind_m * 1e3) * 1000:  # as the board multiplies it
        raise document.fault(
            f"{path}.speed_cap_mps",
            "this source could be driven too far blind: lease times cap",
            expected=f"{blind_m:g} m ({document.where('stop.blind_m')}) or less",
            got=f"{source['lease_s']:g} s * {source['speed_cap_mps']:g} m/s = "
            f"{lease_ms * cap_mm_s * 1e-6:g} m",
            remedy=f"lower the cap to {floor(blind_m / source['lease_s'] * 100) / 100:g} m/s, "
            "or shorten the lease",
        )


def _permission(
    document: Document, path: str, source: dict[str, Any], tables: dict[str, Any]
) -> None:
    """Refuse an autonomous source without the permission of a person's deadman or a kill-switch."""
    people = [name for name, other in tables["sources"].items() if other["attended"]]
    switches = [n for n in tables["stop"]["sources"] if STOP_SOURCES[n].is_human]
    needs, switch = source["needs"], source["kill_switch"]
    given = [f'{key} = "{source[key]}"' for key in ("needs", "kill_switch") if source[key]]
    if source["attended"]:
        is_right = not given
    else:
        is_right = len(given) == 1 and (needs in people or switch in switches)
    if is_right:
        return
    wanted = f"needs: one of {', '.join(people) or 'none there is'}; or kill_switch: one of "
    wanted += ", ".join(switches)
    raise document.fault(
        f"{path}.needs",
        "an attended source has its own deadman, an autonomous one needs somebody's",
        expected="no needs and no kill_switch" if source["attended"] else wanted,
        got=", ".join(given) or "nothing",
        remedy="take them out"
        if source["attended"]
        else "name the attended source whose deadman lets it drive, or the stop source that must "
        "be there",
    )


_RULES = (
    _profile,
    _human_stop,
    _blind_at_all,
    _stop_silence,
    _cut,
    check_unaided,
    _loop_brake,
    _receiver,
    _speeds,
    _direction,
    _battery,
    _step,
    _baud,
    _priorities,
)


def check_parameters(document: Document, parameters: dict[str, list[int]]) -> None:
    """Check that the parameters computed from several keys fit the car's program."""
    for fault in _misfits(document, parameters):
        raise fault


_COMPUTED_FROM = {
    "nm_per_count": "encoder.counts_per_rev",
    "curvature_per_10km": "limits.steer_max_rad",
}


def _misfits(document: Document, parameters: dict[str, list[int]]) -> Iterator[VehicleFileFault]:
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
