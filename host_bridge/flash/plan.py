"""What has to be sent, and where to. Pure: tables in, a table out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

# As the board's launcher has them
SLOTS = ("a", "b")
PINS = "pins.mpy"


@dataclass(frozen=True)
class Slots:
    """What the board's launcher would start next; ``failed`` starts of it were not healthy.
    ``is_waiting``: nothing, for its only program did not come through its trial."""

    slot: int
    is_on_trial: bool
    failed: int
    is_waiting: bool = False

    @property
    def name(self) -> str:
        return SLOTS[self.slot]


@dataclass(frozen=True)
class Plan:
    """Bring one slot to a program: paths within the slot."""

    slot: int
    send: tuple[str, ...]
    remove: tuple[str, ...]
    keep: tuple[str, ...]

    @property
    def folder(self) -> str:
        return f"/{SLOTS[self.slot]}"


def free_slot(slots: Slots | None) -> int:
    """Never the one that would start next; the first of a board that has no launcher."""
    return 1 - slots.slot if slots else 0


def planned(slot: int, wanted: Mapping[str, str], held: Mapping[str, str]) -> Plan:
    """Of hashes by path. What is there and not wanted goes; only programs are looked at."""
    return Plan(
        slot,
        send=tuple(path for path in sorted(wanted) if held.get(path) != wanted[path]),
        remove=tuple(path for path in sorted(held) if path not in wanted and is_program(path)),
        keep=tuple(path for path in sorted(wanted) if held.get(path) == wanted[path]),
    )


def is_program(path: str) -> bool:
    """Not the configuration, which the car itself writes beside it."""
    return path.endswith(".mpy")
