"""The options ``--profile`` and ``--attest``."""

from __future__ import annotations

import argparse

from host_bridge.core import Profile
from host_bridge.core.errors import UsageFault
from host_bridge.core.system.attestation import WHEELS_OFF_GROUND, require_wheels_off_ground


def add_profile(parser: argparse.ArgumentParser) -> None:
    """Declare ``--profile`` and ``--attest``."""
    parser.add_argument(
        "--profile",
        choices=[profile.name.lower() for profile in Profile],
        help="the operating mode: required stop sources, speed cap (default: the vehicle file's)",
    )
    parser.add_argument(
        "--attest",
        choices=[WHEELS_OFF_GROUND],
        help="attest it without being asked; the profile stand requires it",
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
        require_wheels_off_ground(args.attest)
    return profile


def _refuse_several(car_count: int) -> None:
    if car_count > 1:
        raise UsageFault(
            "the profile stand is for one car alone",
            expected="one car",
            got=f"{car_count} cars",
            remedy="leave out --twin",
        )
