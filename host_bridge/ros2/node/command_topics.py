"""The topics by which commands come: each message is read and handed to its source of the mux."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from host_bridge.ros2.bus.bus import Bus
from host_bridge.ros2.bus.message_types import has_message
from host_bridge.ros2.messages import conversions
from host_bridge.ros2.node.mux import FUTURE_US, Mux, StampedCommand
from host_bridge.ros2.node.split_command import SplitCommand
from host_bridge.ros2.node.stops import STOP_QUEUE_DEPTH
from host_bridge.ros2.node.vocabulary_adapter import VocabularyAdapter
from host_bridge.ros2.vocabularies.topics import DIRECT, Content, MuxRow, Subscription
from host_bridge.ros2.vocabularies.vocabulary import Vocabulary

# Messages that can stop: a deeper queue keeps them all
_STOPPING = (Content.EMERGENCY, Content.ENGAGE)


class CommandTopics:
    """The subscriptions to commands, from the bus to the sources of the mux.

    ``now_us`` is the session's time of the current step. With ``is_local`` topics stay on this
    machine, so that stamps count.
    """

    def __init__(
        self,
        bus: Bus,
        mux: Mux,
        adapter: VocabularyAdapter,
        split_command: SplitCommand,
        now_us: Callable[[], int],
        *,
        is_local: bool,
    ) -> None:
        self._bus = bus
        self._mux = mux
        self._adapter = adapter
        self._split_command = split_command
        self._now_us = now_us
        self._is_local = is_local

    def subscribe(self, vocabulary: Vocabulary, rows: tuple[MuxRow, ...]) -> None:
        """Subscribe to a vocabulary's topics, and to further ones that the mux's rows name."""
        sources = {row.topic.lstrip("/"): row.name for row in rows}
        for subscription in vocabulary.subscriptions:
            if not subscription.is_optional or has_message(subscription.type):
                self._subscribe(subscription, sources)
        known = {subscription.topic.lstrip("/") for subscription in vocabulary.subscriptions}
        for row in rows:  # a mux.yaml may name further topics
            if row.topic.lstrip("/") not in known:
                first = vocabulary.subscriptions[0]
                further = Subscription(row.topic, first.type, first.content, row.name)
                self._subscribe(further, sources)

    def _subscribe(self, subscription: Subscription, sources: dict[str, str]) -> None:
        source = sources.get(subscription.topic.lstrip("/"), subscription.source)
        if source not in self._mux.sources:
            return  # the mux.yaml has no such row
        depth = STOP_QUEUE_DEPTH if subscription.content in _STOPPING else 1
        hear = partial(self._hear, subscription, source)
        self._bus.subscribe(subscription.topic, subscription.type, hear, depth=depth)

    def _hear(self, subscription: Subscription, name: str, message: Any, received_us: int) -> None:
        source, content = self._mux.sources[name], subscription.content
        heard_us = self._heard_us(message, received_us)
        if self._adapter.on_message(subscription, source, message, heard_us, self._now_us()):
            return
        if content is Content.REFUSED:
            source.refuse("these cars are driven by speed, steering and brake alone")
            return
        if content is Content.ACKERMANN:
            wanted = conversions.read_ackermann(message)
            if wanted is None:
                source.refuse("it was not a number")
                return
            source.take(StampedCommand(*wanted, heard_us), self._now_us())
            return
        self._split_command.hear(source, content, float(message.data), received_us, self._now_us())

    def _heard_us(self, message: Any, received_us: int) -> int:
        """Return the earlier of a command's arrival and its stamp, in the session's time, in us.

        Stamps count only if topics stay on this machine, which has one clock. A stamp in the future
        is returned as such, so that it is refused, and makes no command newer.
        """
        stamp_ns = conversions.stamp_ns(message)
        if not stamp_ns or not self._is_local:
            return received_us
        made_us = self._now_us() - (self._bus.stamp_ns() - stamp_ns) // 1000
        return made_us if made_us > received_us + FUTURE_US else min(made_us, received_us)


def with_direct(rows: tuple[MuxRow, ...], vocabulary: Vocabulary) -> tuple[MuxRow, ...]:
    """Add the row for direct motor commands, which a mux.yaml does not list."""
    return (*rows, *(row for row in vocabulary.mux if row.name == DIRECT))
