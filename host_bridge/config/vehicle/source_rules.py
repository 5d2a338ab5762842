"""Rules of a vehicle file about who drives and who stops: sources, stop sources, their times.

Each takes the document, whose faults name key and line, and its tables. Each raises
VehicleFileFault.
"""

from __future__ import annotations

from math import floor
from typing import Any

from firmware.core.settings.params import BLIND_MAX_MM
from host_bridge.config.vehicle.document import VehicleDocument
from host_bridge.config.vehicle.schema import PROFILES, STOP_SOURCES

_LEASE_MAX_S = 0.3  # firmware/core/SAFETY.md; 1 s for sources no faster than _SLOW_MPS
_SLOW_MPS = 0.3  # within 1 s it goes as far as a car of 1 m/s within _LEASE_MAX_S


def offered_profiles(tables: dict[str, Any]) -> list[str]:
    """Return the profiles in which this vehicle can be armed."""
    profiles = tables["profiles"]
    return [name for name in PROFILES if name in profiles and profiles[name]["speed_cap_mps"] > 0]


def check_human_stop(document: VehicleDocument, tables: dict[str, Any]) -> None:
    """Refuse a profile in which no person can stop the vehicle."""
    humans = [name for name, kind in STOP_SOURCES.items() if kind.is_human]
    given = tables["stop"]["sources"]
    for profile in offered_profiles(tables):
        if not any(name in given and given[name][profile] != "no" for name in humans):
            raise document.fault(
                "stop.sources",
                f"no person can stop this vehicle in its profile {profile}",
                expected=f"at least one of {', '.join(humans)}, optional or required",
                got=", ".join(
                    f"{n}, which is no person" for n in given if given[n][profile] != "no"
                )
                or "nobody",
                remedy=f'write {profile} = "required" into a stop source that a person operates',
            )


def check_stop_silence(document: VehicleDocument, tables: dict[str, Any]) -> None:
    """Refuse a required stop source whose allowed silence is too long for the profile's speed."""
    for name, source in tables["stop"]["sources"].items():
        for profile in offered_profiles(tables):
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


def check_receiver(document: VehicleDocument, tables: dict[str, Any]) -> None:
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


def check_priorities(document: VehicleDocument, tables: dict[str, Any]) -> None:
    """Refuse two sources of the same priority."""
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


def check_lease(
    document: VehicleDocument, path: str, source: dict[str, Any], tables: dict[str, Any]
) -> None:
    """Refuse a lease that is too long for the speed of its source."""
    if source["lease_s"] > _LEASE_MAX_S and source["speed_cap_mps"] > _SLOW_MPS:
        raise document.fault(
            f"{path}.lease_s",
            "this lease is too long for a source of its speed",
            expected=f"{_LEASE_MAX_S} s or less, or a speed_cap_mps of {_SLOW_MPS} or less",
            got=f"{source['lease_s']:g} s at {source['speed_cap_mps']:g} m/s",
            remedy="shorten the lease; 0.12 suits claims at 100 Hz",
        )


def check_blind_at_all(document: VehicleDocument, tables: dict[str, Any]) -> None:
    """Refuse a ``blind_m`` beyond the board's own limit.

    The board enforces it whoever sends it parameters (firmware/core/settings/params.py).
    """
    blind_m, wheelbase_m = tables["stop"]["blind_m"], tables["geometry"]["wheelbase_m"]
    most_m = min(2 * wheelbase_m, BLIND_MAX_MM * 1e-3)
    if blind_m > most_m + 1e-9:  # the same but for the rounding of floats
        raise document.fault(
            "stop.blind_m",
            "no vehicle of this size may be driven blind that far",
            expected=f"{most_m:.3g} m or less: two wheelbases, and never more than a metre",
            got=f"{blind_m:g} m",
            remedy="lower it, and with it the leases and caps of the sources",
        )


def check_blind(
    document: VehicleDocument, path: str, source: dict[str, Any], tables: dict[str, Any]
) -> None:
    """Refuse a source whose lease times its cap is further than ``blind_m``."""
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


def check_permission(
    document: VehicleDocument, path: str, source: dict[str, Any], tables: dict[str, Any]
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
