"""The warning, before a car is armed, of how far it goes without its program."""

from __future__ import annotations

from host_bridge.core.unaided import UNAIDED_MOST_M
from host_bridge.core.vehicle import Vehicle


def unaided_text(vehicle: Vehicle, profile: str) -> str:
    """Return how far the car goes from a profile's cap after button, hang and reset.

    Says also what its vehicle file accepts of that, and why. "" where the distance is at most
    ``UNAIDED_MOST_M``, and for the profile ``stand``.
    """
    cap_mps = vehicle.profile_caps_mps.get(profile, 0.0)
    goes = vehicle.unaided.stop_from(cap_mps)
    if profile == "stand" or goes.most_m <= UNAIDED_MOST_M:
        return ""
    text = (
        f"From its cap in {profile}, {cap_mps:g} m/s, it goes {_metres(goes.most_m)} without its "
        f"program: button {_metres(goes.button_m)}, hang {_metres(goes.hang_m)}, reset "
        f"{_metres(goes.reset_m)}; with its power lost {_metres(goes.power_lost_m)}."
    )
    accepted = vehicle.accepted_coast
    if accepted is None or accepted.distance_m < goes.most_m:
        return f"{text} Its vehicle file accepts that only by the profile's cap."
    return f"{text} Its vehicle file accepts {_metres(accepted.distance_m)}: {accepted.reason}."


def _metres(metres: float) -> str:
    return f"{metres:.1f} m" if metres < 100.0 else f"{metres:.0f} m"
