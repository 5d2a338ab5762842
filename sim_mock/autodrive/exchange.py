"""One connection of the simulator, without its socket: frames in, answers out.

The simulator sends one frame for each answer, so a frame that is not answered is its last. It is
answered before it is read. If the simulator falls silent for another reason (an exception in its
handler is swallowed, and its frame with it), one more answer restarts it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from sim_mock.autodrive import wire
from sim_mock.autodrive.command import Scenery, VehicleAnswer, write_answer
from sim_mock.autodrive.plant import LOST_S, ExchangedPlant
from sim_mock.autodrive.telemetry import marked_texts, read_telemetry
from sim_mock.autodrive.values import decimal_mark

# It counts as lost then, so the restart commands it to stand; until then it keeps its last command.
_RESTART_US = round(LOST_S * 1e6)
# If the simulator was only paused each restart adds a frame in flight, so they become rarer.
_RESTART_MAX_US = 32_000_000


@dataclass(frozen=True, slots=True)
class DrivenVehicle:
    """One vehicle of the scene that is driven from here: its plant, and its time in us."""

    plant: ExchangedPlant
    now_us: Callable[[], int]
    resets: bool = False  # reset it to its start when the simulator connects


class Exchange:
    """The state of one connection; ``frames``, ``damaged`` and ``restarts`` count events.

    Times are the host's. ``driven``: the vehicles that are driven from here, by their number in the
    scene; they may come and go.
    """

    def __init__(
        self, driven: Mapping[int, DrivenVehicle], begun_us: int, scenery: Scenery | None = None
    ) -> None:
        self._driven = driven
        self._resets = {slot for slot, vehicle in driven.items() if vehicle.resets}
        self._scenery = scenery or Scenery()
        self._mark: str | None = None
        self._last_us = begun_us
        self._wait_us = _RESTART_US
        self.frames = self.damaged = self.restarts = 0

    def answer(self, text: str) -> str | None:
        """Return the packet to send at once, or None."""
        if wire.is_bridge(text):
            due, self._resets = (
                self._resets,
                set(),
            )  # only once: the simulator resets at each answer that says so
            return self._answer_all(due)
        return wire.pong(text)

    def take(self, text: str, now_us: int) -> None:
        """Read a packet after it was answered."""
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
        for slot, vehicle in self._driven.items():
            vehicle.plant.hear(read_telemetry(keys, f"V{slot}"), vehicle.now_us())

    def due(self, now_us: int) -> str | None:
        """Return the answer that restarts a stalled simulator, when it is time for that."""
        if now_us - self._last_us < self._wait_us:
            return None
        self._last_us = now_us
        self._wait_us = min(2 * self._wait_us, _RESTART_MAX_US)
        self.restarts += 1
        return self._answer_all(set())

    def _answer_all(self, resets: set[int]) -> str:
        answers = {
            slot: VehicleAnswer(vehicle.plant.command, slot in resets)
            for slot, vehicle in self._driven.items()
        }
        return wire.write_bridge(write_answer(answers, self._mark, self._scenery))
