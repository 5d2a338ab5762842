"""The count of a pad's reports, which advances when the device reports something new.

Polling does not advance it. SDL cannot tell a steady hand from a frozen pad: both report nothing.
If a car's vehicle file has ``counter = true`` for a source, the car stops when this count stands
still while the deadman is held.
"""

from __future__ import annotations

from host_bridge.inputs.gamepad.mapping import LivenessCheck
from host_bridge.inputs.gamepad.sdl import PadReport, ReportKind

_COUNT_MASK = 0xFFFF
PRESS_AGAIN_US = 1_000_000  # as for a terminal that does not report the release of keys


class ReportCount:
    """A counter of the reports that prove that the pad is alive.

    ``trigger`` is the axis that alone counts, if ``liveness`` is TRIGGER.
    """

    def __init__(self, liveness: LivenessCheck, trigger: int = -1) -> None:
        self.count = 0  # modulo 2**16, as on the wire
        self.total = 0
        self.heard_us: int | None = None
        self._only = trigger if liveness is LivenessCheck.TRIGGER else None
        self._latest: dict[tuple[ReportKind, int], tuple[float, ...]] = {}

    def hear(self, report: PadReport, now_us: int) -> bool:
        """Take a report; return whether it counted.

        Repeated values do not count: a dongle may repeat the last ones of a pad that is gone.
        """
        if report.kind in (ReportKind.ADDED, ReportKind.REMOVED):
            return False
        key, content = (report.kind, report.number), report.content or (report.value,)
        is_new = self._latest.get(key) != content
        self._latest[key] = content
        is_the_deadman = self._only is None or key == (ReportKind.AXIS, self._only)
        if not (is_new and is_the_deadman):
            return False
        self.count = self.count + 1 & _COUNT_MASK
        self.total += 1
        self.heard_us = now_us
        return True
