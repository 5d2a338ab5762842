"""Limits how far topics reach, and refuses a real car that strangers could then move."""

from __future__ import annotations

from collections.abc import MutableMapping

from host_bridge.core.errors import UsageFault

_HUMBLE = "humble"
# Environment variables by which a user has decided how far ROS 2 discovery reaches
REACH_SETTINGS = (
    "ROS_AUTOMATIC_DISCOVERY_RANGE",
    "ROS_LOCALHOST_ONLY",
    "ROS_STATIC_PEERS",
    "ROS_DISCOVERY_SERVER",
    "FASTRTPS_DEFAULT_PROFILES_FILE",
    "FASTDDS_DEFAULT_PROFILES_FILE",
    "CYCLONEDDS_URI",
    "ZENOH_SESSION_CONFIG_URI",
)


def stay_on_this_machine(environment: MutableMapping[str, str]) -> bool:
    """Restrict ROS 2 discovery to this machine, unless the environment already sets its range.

    Return whether topics stay on this machine: then every stamp was made with this machine's clock.
    """
    if not any(environment.get(name) for name in REACH_SETTINGS):
        if environment.get("ROS_DISTRO") == _HUMBLE:
            environment["ROS_LOCALHOST_ONLY"] = "1"
        else:
            environment["ROS_AUTOMATIC_DISCOVERY_RANGE"] = "LOCALHOST"
    others = [name for name in REACH_SETTINGS[2:] if environment.get(name)]
    reach = environment.get("ROS_AUTOMATIC_DISCOVERY_RANGE", "").upper()
    return not others and (
        environment.get("ROS_LOCALHOST_ONLY") == "1" or reach in ("LOCALHOST", "OFF")
    )


def is_secured(environment: MutableMapping[str, str]) -> bool:
    """Return whether ROS 2's own security (SROS 2) is enforced: it refuses nodes without a key."""
    return (
        environment.get("ROS_SECURITY_ENABLE", "").lower() == "true"
        and environment.get("ROS_SECURITY_STRATEGY", "") == "Enforce"
    )


def network_refusal() -> UsageFault:
    """Return the refusal of a real car whose topics strangers on the network could publish."""
    return UsageFault(
        "whoever is on this network could move the car: ROS 2 asks nobody who they are",
        expected="topics that stay on this machine, or ROS 2's security enforced",
        got="a setting of ROS 2 that reaches farther",
        remedy="set ROS_AUTOMATIC_DISCOVERY_RANGE=LOCALHOST and nothing else; or set up SROS 2 "
        "with ROS_SECURITY_ENABLE=true and ROS_SECURITY_STRATEGY=Enforce",
    )
