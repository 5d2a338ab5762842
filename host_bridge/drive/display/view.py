"""The interface of a drive's display."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from host_bridge.drive.drive import FleetDrive


class DriveDisplay(Protocol):
    """The display of a drive, for people and programs."""

    def screen(self, drive: FleetDrive, now_us: int, columns: int, rows: int) -> list[str]:
        """Return the whole screen as styled lines, no more than ``rows``."""

    def news(self, drive: FleetDrive, now_us: int) -> list[str]:
        """Return the lines for the log at this moment; called ten times a second."""

    def summary(self, drive: FleetDrive, now_us: int) -> Sequence[str]:
        """Return the lines for the end."""
