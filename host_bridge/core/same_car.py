"""The check that a car is the one that was known: by its board, then vehicle, then configuration.

Code whose state outlives a re-plug, a reset or a restart keeps a ``KnownCar`` and checks it here
before it arms, drives or writes to a car under the known car's name (S2).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


@dataclass(frozen=True, slots=True)
class KnownCar:
    """A car as it is remembered, or as it is seen now; an empty field is not known."""

    board_id: bytes
    name: str = ""
    vehicle: str = ""
    config_hash: bytes = b""

    def __str__(self) -> str:
        facts = [self.vehicle, f"board {self.board_id.hex()}" if self.board_id else ""]
        details = ", ".join(filter(None, facts))
        name = self.name or "a car without a name"
        return f"{name} ({details})" if details else name


class CarMatch(Enum):
    """The outcomes of comparing a car with one that is remembered."""

    SAME = "the same car"
    RECONFIGURED = "the same car, with another configuration"
    REFITTED = "the same car, flashed as another vehicle"
    ANOTHER = "another car"


# The fields that are compared, in this order; the first that differs decides
_COMPARED = (
    ("board_id", CarMatch.ANOTHER),
    ("vehicle", CarMatch.REFITTED),
    ("config_hash", CarMatch.RECONFIGURED),
)


def compare_cars(known: KnownCar, seen: KnownCar) -> CarMatch:
    """Compare a car that is seen with one that is remembered.

    A field that is unknown on either side counts as equal.
    """
    for what, found in _COMPARED:
        was, is_now = getattr(known, what), getattr(seen, what)
        if was and is_now and was != is_now:
            return found
    return CarMatch.SAME


def another_car_text(known: KnownCar | str, seen: KnownCar) -> str:
    """Return the message that another car is there than the one that is meant; it names both."""
    return f"another car is there: {known} is meant, and this is {seen}"


def another_car_remedy(known: KnownCar, seen: KnownCar) -> str:
    """Return what a person can do after a re-plug to say which of the two cars is meant."""
    name = known.name or "the car"
    return (
        f"plug {name} in again; if {seen.name or 'the other one'} is meant, end the program that "
        f"serves {name} and begin it anew"
    )
