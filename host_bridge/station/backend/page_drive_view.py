"""The lines on a drive that the page of its seat shows."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial

from host_bridge.drive.drive import FleetDrive

# The drive speaks of a terminal's key R; the page has a button for each of its two deeds
_KEYS = (
    (
        re.compile("press R to clear it and to arm again", re.IGNORECASE),
        "unlock it, then arm again",
    ),
    (
        re.compile("press R to clear and arm", re.IGNORECASE),
        "if a stop is locked, unlock it; then arm",
    ),
    (re.compile("press R to arm", re.IGNORECASE), "press Arm"),
)


def _as_begun(words: str, found: re.Match[str]) -> str:
    """Return the words with a capital letter where what was found began with one."""
    return words[0].upper() + words[1:] if found[0][0].isupper() else words


class PageDriveView:
    """The view that gives the page's driver the lines on the drive."""

    def screen(self, drive: FleetDrive, now_us: int, columns: int, rows: int) -> list[str]:
        controls = drive.controls
        # per cent: the median
        trips = [it.connection.statistics.round_trip_us(50) for it in drive.fleet.cars]
        worst_us = max((it for it in trips if it is not None), default=None)
        trip = f"round trip {worst_us * 1e-3:.1f} ms" if worst_us is not None else ""
        limit = f"drives at {controls.limits.speed_mps:g} m/s at most"
        notice = drive.notice
        for pattern, words in _KEYS:
            notice = pattern.sub(partial(_as_begun, words), notice)
        return [
            drive.phase.value,
            notice,
            controls.status_text(now_us),
            "; ".join(filter(None, (limit, trip))),
        ]

    def news(self, drive: FleetDrive, now_us: int) -> list[str]:
        return []

    def summary(self, drive: FleetDrive, now_us: int) -> Sequence[str]:
        return ()
