"""What is to be driven, and how; and what it is looked at with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from host_bridge.domain import Profile

if TYPE_CHECKING:
    from host_bridge.driving.drive import Drive


@dataclass(frozen=True)
class Plan:
    """The command line, parsed. The first car is the one that the others are compared with."""

    cars: tuple[str | None, ...]  # names or URIs; None is the only one that is served
    input: str = "keyboard"  # NAME:REST; what the entry points of tandem.inputs name
    options: Mapping[str, str] = field(default_factory=dict)  # of the input, by name
    vehicle: str | None = None
    record: Path | None = None
    seconds: float | None = None
    speed_mps: float | None = None  # top speed; the vehicle's and the source's hold besides
    profile: Profile | None = None  # None: as each vehicle file says
    cap_mps: float | None = None  # on the cars themselves, whoever drives them
    is_json: bool = False


class View(Protocol):
    """What people and programs get to see of a drive."""

    def screen(self, drive: Drive, now_us: int, columns: int) -> list[str]:
        """The whole screen, line by line, styled."""

    def news(self, drive: Drive, now_us: int) -> list[str]:
        """What a log gets at this moment; called ten times a second."""

    def summary(self, drive: Drive, now_us: int) -> Sequence[str]:
        """At the end."""
