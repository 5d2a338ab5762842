"""What a drive is looked at with."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from host_bridge.driving.drive import Drive


class View(Protocol):
    """What people and programs get to see of a drive."""

    def screen(self, drive: Drive, now_us: int, columns: int) -> list[str]:
        """The whole screen, line by line, styled."""

    def news(self, drive: Drive, now_us: int) -> list[str]:
        """What a log gets at this moment; called ten times a second."""

    def summary(self, drive: Drive, now_us: int) -> Sequence[str]:
        """At the end."""
