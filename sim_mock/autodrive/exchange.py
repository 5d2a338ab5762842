"""One connection of the simulator, without its socket: frames in, answers out.

The simulator sends one frame for each answer, so a frame that is not answered is its last. It is
answered before it is read. When it has fallen silent for another reason (an exception in its
handler is swallowed, and its frame with it) one more answer starts it again.
"""

from __future__ import annotations

from sim_mock.autodrive import wire
from sim_mock.autodrive.command import write_command
from sim_mock.autodrive.plant import LOST_S, ExchangedPlant
from sim_mock.autodrive.telemetry import marked_texts, read_telemetry
from sim_mock.autodrive.values import decimal_mark

# When it counts as lost: what starts it again tells it to stand, for it goes on with its last word.
_RESTART_US = round(LOST_S * 1e6)
# Each is one more frame under way should the simulator only have been paused: fewer and fewer.
_RESTART_MAX_US = 32_000_000


class Exchange:
    """``frames``, ``damaged`` and ``restarts`` count what happened; times are the plant's."""

    def __init__(self, plant: ExchangedPlant, begun_us: int, *, is_reset: bool = False) -> None:
        self._plant = plant
        self._resets = is_reset
        self._mark: str | None = None
        self._last_us = begun_us
        self._wait_us = _RESTART_US
        self.frames = self.damaged = self.restarts = 0

    def answer(self, text: str) -> str | None:
        """What has to be sent at once, if anything."""
        if wire.is_bridge(text):
            return self._command(self._is_reset_due())
        return wire.pong(text)

    def take(self, text: str, now_us: int) -> None:
        """Read what was answered."""
        if not wire.is_bridge(text):
            return
        self._last_us, self._wait_us = now_us, _RESTART_US
        keys = wire.read_bridge(text)
        if keys is None:
            self.damaged += 1
            return
        self.frames += 1
        self._mark = self._mark or decimal_mark(marked_texts(keys))
        self._plant.hear(read_telemetry(keys), now_us)

    def due(self, now_us: int) -> str | None:
        """What starts a stalled simulator again, when it is time for that."""
        if now_us - self._last_us < self._wait_us:
            return None
        self._last_us = now_us
        self._wait_us = min(2 * self._wait_us, _RESTART_MAX_US)
        self.restarts += 1
        return self._command(False)

    def _command(self, is_reset: bool) -> str:
        return wire.write_bridge(write_command(self._plant.command, self._mark, is_reset))

    def _is_reset_due(self) -> bool:
        """Once: while it is told to, it resets again and again."""
        is_due, self._resets = self._resets, False
        return is_due
