"""The case that the wiring rules examine, and the text for lists of pins."""

from __future__ import annotations

from dataclasses import dataclass

from host_bridge.config.boards.facts import BoardType, Pin, Wiring
from host_bridge.config.boards.pins.needs import Needs
from host_bridge.core.errors import VehicleFileFault


@dataclass(frozen=True)
class WiringCase:
    """A wiring of a board, and the needs of the vehicle that it is for."""

    board: BoardType
    wiring: Wiring
    needs: Needs

    def fault(
        self, key: str, what: str, expected: str, got: object, remedy: str
    ) -> VehicleFileFault:
        return self.board.document.fault(key, what, expected, str(got), remedy)

    def free_pin(self) -> str:
        """Return a pin that nothing is wired to, for a remedy."""
        used = {wire.pin for wire in self.wiring.wires}
        return next((str(pin) for pin in self.board.pins if pin not in used), "none left")


def spans(pins: tuple[Pin, ...]) -> str:
    """Return pins as text for people: ``0-22, 26-28``; names as they are."""
    groups: list[list[Pin]] = []
    for pin in pins:
        last = groups[-1][-1] if groups else None
        if isinstance(pin, int) and isinstance(last, int) and pin == last + 1:
            groups[-1].append(pin)
        else:
            groups.append([pin])
    return ", ".join(f"{g[0]}-{g[-1]}" if len(g) > 1 else f"{g[0]}" for g in groups)
