"""The attestation of a person that a car's wheels are off the ground."""

from __future__ import annotations

import sys

from host_bridge.core.errors import RefusedFault, UsageFault

WHEELS_OFF_GROUND = "wheels-off-ground"
_YES = ("y", "yes")


def require_wheels_off_ground(attested: str | None) -> None:
    """Ask at the terminal whether the wheels are off the ground, unless that was attested.

    Raises errors.UsageFault where nobody can be asked, errors.RefusedFault for a no.
    """
    if attested == WHEELS_OFF_GROUND:
        return
    if not sys.stdin.isatty():
        raise UsageFault(
            "nobody can be asked whether the wheels are off the ground",
            expected=f"a terminal, or --attest {WHEELS_OFF_GROUND}",
            remedy="look at the car, then say so",
        )
    if not says_wheels_off_ground():
        raise RefusedFault(
            "not armed: the profile stand is for wheels off the ground",
            remedy="put the car on its stand; or arm it in another profile",
        )


def says_wheels_off_ground() -> bool:
    """Ask the person at this terminal; return True only for yes, so an empty answer is no."""
    return input("Are the wheels off the ground? [y/N] ").strip().lower() in _YES
