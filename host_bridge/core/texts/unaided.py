"""The warning, before a car is armed, of how far it goes without its program."""

from __future__ import annotations

from host_bridge.core.texts.table import UNAIDED, profile_word
from host_bridge.core.unaided import UNAIDED_MOST_M
from host_bridge.core.vehicle import Vehicle


def unaided_text(vehicle: Vehicle, profile: str) -> str:
    """Return how far the car goes from a profile's cap after button, hang and reset.

    ``profile`` is a name as in vehicle files. Says also what the vehicle file accepts of that, and
    why; or that it does not offer the profile. "" where the distance is at most
    ``UNAIDED_MOST_M``, and for the profile ``stand``.
    """
    cap_mps, word = vehicle.profile_caps_mps.get(profile, 0.0), profile_word(profile)
    if cap_mps <= 0.0:
        return UNAIDED["NO_PROFILE"].format(profile=word)
    goes = vehicle.unaided.stop_from(cap_mps)
    if profile == "stand" or goes.most_m <= UNAIDED_MOST_M:
        return ""
    text = UNAIDED["GOES"].format(
        profile=word,
        mps=goes.speed_mps,
        most=_metres(goes.most_m),
        button=_metres(goes.button_m),
        hang=_metres(goes.hang_m),
        reset=_metres(goes.reset_m),
        power_lost=_metres(goes.power_lost_m),
    )
    accepted = vehicle.accepted_coast
    if accepted is None or accepted.distance_m < goes.most_m:
        return f"{text} {UNAIDED['NOT_ACCEPTED']}"
    most = _metres(accepted.distance_m)
    return f"{text} {UNAIDED['ACCEPTED'].format(most=most, reason=accepted.reason)}"


def _metres(metres: float) -> str:
    return f"{metres:.1f} m" if metres < 100.0 else f"{metres:.0f} m"
