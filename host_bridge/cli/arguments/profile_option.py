"""The options ``--profile`` and ``--attest``, and the question that the stand profile asks."""

from __future__ import annotations

import argparse
import sys

from host_bridge.core import Profile
from host_bridge.core.errors import RefusedFault, UsageFault

WHEELS_OFF_GROUND = "wheels-off-ground"
_YES = ("y", "yes")


def add_profile(parser: argparse.ArgumentParser) -> None:
    """Declare ``--profile`` and ``--attest``."""
    parser.add_argument(
        "--profile",
        choices=[profile.name.lower() for profile in Profile],
        help="which stop sources must be there, how fast at most (default: the vehicle file's)",
    )
    parser.add_argument(
        "--attest",
        choices=[WHEELS_OFF_GROUND],
        help="say so without being asked; the profile stand demands it",
    )


def profile_of(args: argparse.Namespace, car_count: int = 1) -> Profile | None:
    """Return the profile asked for, or None; for stand a person has to attest the wheels first.

    Raises errors.UsageFault, errors.RefusedFault.
    """
    if args.profile is None:
        return None
    profile = Profile[args.profile.upper()]
    if profile is Profile.STAND:
        _refuse_several(car_count)
        if args.attest != WHEELS_OFF_GROUND:
            _ask()
    return profile


def _refuse_several(car_count: int) -> None:
    if car_count > 1:
        raise UsageFault(
            "the profile stand is for one car: what its wheels do in the air is never mirrored",
            expected="one car",
            got=f"{car_count} cars",
            remedy="leave out --twin",
        )


def _ask() -> None:
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
