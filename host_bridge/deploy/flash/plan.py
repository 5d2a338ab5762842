"""The plan of what to send and to which slot. Pure: tables in, a table out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

# As in the board's launcher
SLOTS = ("a", "b")
PINS = "pins.mpy"


@dataclass(frozen=True)
class Slots:
    """The slot that the board's launcher starts next; ``failed`` counts its unhealthy starts.

    With ``is_waiting`` it starts nothing, for its only program failed its trial.
    """

    slot: int
    is_on_trial: bool
    failed: int
    is_waiting: bool = False

    @property
    def name(self) -> str:
        return SLOTS[self.slot]


@dataclass(frozen=True)
class InstallPlan:
    """The steps that bring one slot to a program: paths within the slot."""

    slot: int
    send: tuple[str, ...]
    remove: tuple[str, ...]
    keep: tuple[str, ...]

    @property
    def folder(self) -> str:
        return f"/{SLOTS[self.slot]}"


def free_slot(slots: Slots | None) -> int:
    """Return the slot that would not start next; the first one on a board without a launcher."""
    return 1 - slots.slot if slots else 0


def plan_slot(slot: int, wanted: Mapping[str, str], held: Mapping[str, str]) -> InstallPlan:
    """Compare hashes by path; only programs are looked at.

    Files that are not wanted are removed.
    """
    return InstallPlan(
        slot,
        send=tuple(path for path in sorted(wanted) if held.get(path) != wanted[path]),
        remove=tuple(path for path in sorted(held) if path not in wanted and is_program(path)),
        keep=tuple(path for path in sorted(wanted) if held.get(path) == wanted[path]),
    )


def is_program(path: str) -> bool:
    """Return whether the file is a program's, not the configuration that the car writes there."""
    return path.endswith(".mpy")
