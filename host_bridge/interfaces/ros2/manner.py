"""The seam for what is particular to one community's cars: more than driving by priority.

A vocabulary without anything of its own has the plain ``Manner``, which does nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from host_bridge.domain import SeenCar, Vehicle
from host_bridge.interfaces.ros2.bus import Bus
from host_bridge.interfaces.ros2.mux import Command, Mux, Source
from host_bridge.interfaces.ros2.vocabulary import Heard, MuxRow, Part, Said
from host_bridge.logbook.sensor_lines import Truth

Reply = Callable[[bool, str], None]
# Fills an empty message with what the car does; False if there is nothing to say
Fill = Callable[[Said, Any, Any, SeenCar], bool]


class Asked(Protocol):
    """What a manner may ask of the node."""

    def stop(self) -> None:
        """Stop the cars. Anybody may."""

    def stop_for(self, reply: Reply) -> None:
        """Likewise, and say what came of it."""

    def arm(self, reply: Reply) -> None:
        """Arm virtual cars, and say what came of it; a real one is not armed by a topic."""

    def put(self, place: tuple[float, float, float]) -> str:
        """Put a virtual car's base_link at x, y (m) and yaw (rad): stopped, set down, armed again.
        Why not, in a sentence; "" if it is begun."""

    def truth(self) -> Truth | None:
        """Where a virtual car really is."""

    def hits(self) -> int:
        """How often a virtual car has driven into something."""


class Manner:
    """This one adds nothing. ``lights`` is the lights' byte of the claims; while it may not drive,
    what is commanded is not done, and whoever falls silent is not missed."""

    lights = 0
    may_drive = True
    has_runstop = False  # a topic runstop of its own, instead of the one that all have

    def begin(self, bus: Bus, asked: Asked, vehicle: Vehicle) -> None:
        """Offer services."""

    def mux(self, rows: Sequence[MuxRow], lease_s: float) -> Mux:
        return Mux(rows, lease_s)

    def hear(self, heard: Heard, source: Source, message: Any, heard_us: int, now_us: int) -> bool:
        """Take a message; False if it is none of this manner's."""
        return False

    def step(self, car: SeenCar, is_driving: bool, now_us: int) -> None:
        """See what the car does, before each decision."""

    def allowed(self, command: Command) -> Command:
        """What of a command may be done now."""
        return command

    def why_not(self) -> str:
        """Why the cars are not to be armed now, in a sentence; "" if they may be."""
        return ""

    def words(self) -> str:
        """Why nothing of what is commanded is done, in a sentence; "" if that is not so."""
        return ""

    def fills(self) -> Mapping[Part, Fill]:
        return {}
