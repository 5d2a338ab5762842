"""One connection of the simulator, without its socket: frames in, answers out.

The simulator sends one frame for each answer, so a frame that is not answered is its last. It is
answered before it is read. When it has fallen silent for another reason (an exception in its
handler is swallowed, and its frame with it) one more answer starts it again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from sim_mock.autodrive import wire
from sim_mock.autodrive.command import Scenery, Told, write_answer
from sim_mock.autodrive.plant import LOST_S, ExchangedPlant
from sim_mock.autodrive.telemetry import marked_texts, read_telemetry
from sim_mock.autodrive.values import decimal_mark

# When it counts as lost: what starts it again tells it to stand, for it goes on with its last word.
_RESTART_US = round(LOST_S * 1e6)
# Each is one more frame under way should the simulator only have been paused: fewer and fewer.
_RESTART_MAX_US = 32_000_000


@dataclass(frozen=True, slots=True)
class Seat:
    """One vehicle of the scene that is driven from here: its plant, and its time in us."""

    plant: ExchangedPlant
    now_us: Callable[[], int]
    resets: bool = False  # it is put at its start when the simulator connects


class Exchange:
    """``frames``, ``damaged`` and ``restarts`` count what happened; times are the host's.

    ``seats``: by their number in the scene, those that are driven from here, as they come and go.
    """

    def __init__(
        self, seats: Mapping[int, Seat], begun_us: int, scenery: Scenery | None = None
    ) -> None:
        self._seats = seats
        self._resets = {slot for slot, seat in seats.items() if seat.resets}
        self._scenery = scenery or Scenery()
        self._mark: str | None = None
        self._last_us = begun_us
        self._wait_us = _RESTART_US
        self.frames = self.damaged = self.restarts = 0

    def answer(self, text: str) -> str | None:
        """What has to be sent at once, if anything."""
        if wire.is_bridge(text):
            due, self._resets = (
                self._resets,
                set(),
            )  # once: while told to, it resets again and again
            return self._told(due)
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
        self._scenery = self._scenery.heard(keys)
        for slot, seat in self._seats.items():
            seat.plant.hear(read_telemetry(keys, f"V{slot}"), seat.now_us())

    def due(self, now_us: int) -> str | None:
        """What starts a stalled simulator again, when it is time for that."""
        if now_us - self._last_us < self._wait_us:
            return None
        self._last_us = now_us
        self._wait_us = min(2 * self._wait_us, _RESTART_MAX_US)
        self.restarts += 1
        return self._told(set())

    def _told(self, resets: set[int]) -> str:
        told = {
            slot: Told(seat.plant.command, slot in resets) for slot, seat in self._seats.items()
        }
        return wire.write_bridge(write_answer(told, self._mark, self._scenery))
