"""The count of a pad's reports: it advances when the device says something new, never by asking.

SDL cannot tell a steady hand from a frozen pad: both say nothing. A car whose vehicle file says
``counter = true`` of a source stops when this count stands still while the deadman is held.
"""

from __future__ import annotations

from host_bridge.interfaces.gamepad.mapping import Life
from host_bridge.interfaces.gamepad.sdl import Kind, Report

_COUNT_MASK = 0xFFFF
PRESS_AGAIN_US = 1_000_000  # as with a terminal that does not report the release of keys


class ReportCount:
    """Counts the reports that show life. ``trigger`` is the axis that alone counts, if one does."""

    def __init__(self, life: Life, trigger: int = -1) -> None:
        self.count = 0  # modulo 2**16, as the wire has it
        self.total = 0
        self.heard_us: int | None = None
        self._only = trigger if life is Life.TRIGGER else None
        self._latest: dict[tuple[Kind, int], tuple[float, ...]] = {}

    def hear(self, report: Report, now_us: int) -> bool:
        """Whether it counted: a dongle that repeats its last values says nothing new."""
        if report.kind in (Kind.ADDED, Kind.REMOVED):
            return False
        key, said = (report.kind, report.number), report.content or (report.value,)
        is_new = self._latest.get(key) != said
        self._latest[key] = said
        is_the_hand = self._only is None or key == (Kind.AXIS, self._only)
        if not (is_new and is_the_hand):
            return False
        self.count = self.count + 1 & _COUNT_MASK
        self.total += 1
        self.heard_us = now_us
        return True
