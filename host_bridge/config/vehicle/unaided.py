"""The check of a profile's cap against the distances after a button, a hang and a reset.

They are short, or the vehicle file accepts them with a reason.
"""

from __future__ import annotations

from math import floor
from typing import Any

from host_bridge.config.vehicle.document import VehicleDocument
from host_bridge.core import UNAIDED_MOST_M, AcceptedCoast, UnaidedFacts

_TENTHS = 10.0  # of m/s: finer than a cap is ever set by hand


def unaided_facts(tables: dict[str, Any]) -> UnaidedFacts:
    """Return what a vehicle file says about stops without the car's program."""
    stop = tables["stop"]
    return UnaidedFacts(
        cut_decel_mps2=stop["cut_decel_mps2"],
        coast_decel_mps2=stop["coast_decel_mps2"] or stop["cut_decel_mps2"],
        has_brake_servo=any(it["kind"] == "brake_servo" for it in tables["channels"]),
        has_off_delay=stop["loop_brake_s"] > 0.0,
    )


def accepted_coast(tables: dict[str, Any]) -> AcceptedCoast | None:
    """Return the distance that a vehicle file accepts; None if it has no such table."""
    given = tables["accepted_coast"]
    return AcceptedCoast(given["distance_m"], given["reason"].strip(" .")) if given else None


def check_unaided(document: VehicleDocument, tables: dict[str, Any]) -> None:
    """Raise VehicleFileFault if the default profile's distances are long and not accepted.

    A long distance is accepted only with a reason.
    """
    profile, facts = tables["stop"]["profile"], unaided_facts(tables)
    cap_mps = tables["profiles"][profile]["speed_cap_mps"]
    goes = facts.stop_from(cap_mps)
    accepted = accepted_coast(tables)
    if accepted and not (accepted.reason and accepted.reason.isprintable()):
        raise document.fault(
            "accepted_coast.reason",
            "the reason for the accepted distance is not a line of text",
            expected="one line of words: why nobody is in its way for so far",
            got=repr(accepted.reason),
            remedy="write them; they are shown to whoever arms the car",
        )
    if goes.most_m <= max(UNAIDED_MOST_M, accepted.distance_m if accepted else 0.0):
        return
    raise document.fault(
        "accepted_coast.distance_m" if accepted else f"profiles.{profile}.speed_cap_mps",
        "without its program this car goes farther than anybody has accepted",
        expected=f"{UNAIDED_MOST_M:g} m or less after button, hang and reset "
        f"({document.where('stop.cut_decel_mps2')}), or [accepted_coast] with a distance_m that "
        "is not less, and a reason",
        got=f"button {goes.button_m:.1f}, hang {goes.hang_m:.1f}, reset {goes.reset_m:.1f} m "
        f"from {cap_mps:g} m/s",
        remedy=f"lower speed_cap_mps to {most_cap_mps(facts, cap_mps):g}, fit a brake that needs "
        "no drive, or accept the distance; hardware/stopping.md",
    )


def most_cap_mps(facts: UnaidedFacts, cap_mps: float) -> float:
    """Return the highest speed, in whole tenths of m/s, that keeps ``UNAIDED_MOST_M``."""
    tenths = floor(cap_mps * _TENTHS)
    while tenths > 0 and facts.stop_from(tenths / _TENTHS).most_m > UNAIDED_MOST_M:
        tenths -= 1
    return tenths / _TENTHS
