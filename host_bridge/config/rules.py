"""What no single key can get wrong: limits that contradict each other, and safety's refusals."""

from __future__ import annotations

from collections.abc import Iterator
from math import floor
from typing import Any

from host_bridge.config.compilation import motion_every
from host_bridge.config.document import Document
from host_bridge.config.schema import PARAMETERS, STOP_SOURCES
from host_bridge.errors import VehicleFileFault

_LEASE_MAX_S = 0.3  # safety.md section 3; a second for what is slower than _SLOW_MPS
_SLOW_MPS = 0.3


def check_tables(document: Document, tables: dict[str, Any]) -> None:
    """Raises VehicleFileFault at the first contradiction."""
    for rule in (_human_stop, _speeds, _battery, _baud, _priorities):
        rule(document, tables)
    for name, source in tables["sources"].items():
        for check in (_lease, _blind, _permission):
            check(document, f"sources.{name}", source, tables)


def _human_stop(document: Document, tables: dict[str, Any]) -> None:
    given = tables["stop"]["sources"]
    if not any(STOP_SOURCES[name] for name in given):
        humans = ", ".join(name for name, is_human in STOP_SOURCES.items() if is_human)
        raise document.fault(
            "stop.sources",
            "no person can stop this vehicle",
            expected=f"at least one of {humans}",
            got=", ".join(given),
            remedy="fit a stop that a person operates, and name it here",
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


def _baud(document: Document, tables: dict[str, Any]) -> None:
    timing = tables["timing"]
    try:
        motion_every(timing["baud"], timing["step_s"])
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
    """An autonomous source drives only while an attended one's deadman lets it."""
    people = [name for name, other in tables["sources"].items() if other["attended"]]
    needs = source["needs"]
    if (needs is None) if source["attended"] else (needs in people):
        return
    wanted = "no needs" if source["attended"] else f"one of {', '.join(people) or 'none there is'}"
    raise document.fault(
        f"{path}.needs",
        "an attended source has its own deadman, an autonomous one needs somebody's",
        expected=wanted,
        got=needs or "nothing",
        remedy="name the attended source whose deadman lets it drive"
        if not source["attended"]
        else "take needs out",
    )


def check_parameters(document: Document, parameters: dict[str, list[int]]) -> None:
    """What was computed out of several keys has to fit the car's program, too."""
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
