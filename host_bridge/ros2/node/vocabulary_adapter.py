"""The adapter interface for what a vocabulary does besides driving by priority.

A vocabulary with nothing of that kind uses the base class, which does nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from host_bridge.core import SeenCar, Vehicle
from host_bridge.logs.sensor_lines import TruePose
from host_bridge.ros2.bus.bus import Bus
from host_bridge.ros2.node.mux import Mux, MuxSource, StampedCommand
from host_bridge.ros2.vocabularies.topics import Content, MuxRow, Publication, Subscription

Reply = Callable[[bool, str], None]
# Fills an empty message from the car's state; returns False if there is nothing to publish
MessageFiller = Callable[[Publication, Any, Any, SeenCar], bool]


class NodeApi(Protocol):
    """The requests that an adapter (``VocabularyAdapter``) may make of the node."""

    def stop(self) -> None:
        """Stop the cars; this needs no permission."""

    def stop_for(self, reply: Reply) -> None:
        """Stop the cars, and call ``reply`` with the outcome."""

    def arm(self, reply: Reply) -> None:
        """Arm virtual cars, and call ``reply`` with the outcome; a real car is refused."""

    def set_pose(self, place: tuple[float, float, float]) -> str:
        """Begin to put a virtual car's base_link at x, y (m) and yaw (rad).

        The car is stopped, set down and armed again. Return why not, as a sentence; "" if it has
        begun.
        """

    def truth(self) -> TruePose | None:
        """Return the true motion of a virtual car; None if it is not known."""

    def hits(self) -> int:
        """Return how many collisions a virtual car has had."""


class VocabularyAdapter:
    """The adapter between a vocabulary and the node; this base class adds nothing.

    ``lights`` is the lights byte of the claims. While ``may_drive`` is False commands are not
    obeyed, and a source that falls silent is no reason to stop.
    """

    lights = 0
    may_drive = True
    has_runstop = False  # True: it subscribes to its own runstop topic, not to the common one

    def begin(self, bus: Bus, node: NodeApi, vehicle: Vehicle) -> None:
        """Set up: offer services, subscribe to further topics."""

    def mux(self, rows: Sequence[MuxRow], lease_s: float) -> Mux:
        return Mux(rows, lease_s)

    def on_message(
        self,
        subscription: Subscription,
        source: MuxSource,
        message: Any,
        heard_us: int,
        now_us: int,
    ) -> bool:
        """Handle a message; return False if this adapter does not handle that topic."""
        return False

    def step(self, car: SeenCar, is_driving: bool, now_us: int) -> None:
        """Observe the car's state, before each decision."""

    def limited(self, command: StampedCommand) -> StampedCommand:
        """Return the command with the adapter's own limits applied."""
        return command

    def arming_refusal(self) -> str:
        """Return why the cars must not be armed now, as a sentence; "" if they may be."""
        return ""

    def words(self) -> str:
        """Return why no command is obeyed, as a sentence; "" if commands are obeyed."""
        return ""

    def fillers(self) -> Mapping[Content, MessageFiller]:
        return {}
