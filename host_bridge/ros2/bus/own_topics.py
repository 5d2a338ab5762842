"""Prevents a node from subscribing to a topic that it publishes.

A car that took its own echo as a command would drive on after its driver fell silent. Nothing here
imports rclpy.
"""

from __future__ import annotations

from host_bridge.core.errors import UsageFault


class OwnTopics:
    """The topics of one node by their full names, after remapping and namespace."""

    def __init__(self) -> None:
        self._published: dict[str, str] = {}
        self._subscribed: dict[str, str] = {}

    @property
    def published(self) -> tuple[str, ...]:
        """Return what the node publishes."""
        return tuple(self._published)

    @property
    def subscribed(self) -> tuple[str, ...]:
        """Return what the node subscribes to."""
        return tuple(self._subscribed)

    def add_publication(self, full: str, name: str) -> None:
        """Register ``full`` as published; ``name`` is its name before remapping.

        Raises errors.UsageFault for a topic that the node subscribes to.
        """
        self._published[full] = name
        self._refuse_echo(full)

    def add_subscription(self, full: str, name: str) -> None:
        """Register ``full`` as subscribed to.

        Raises errors.UsageFault for a topic that the node publishes.
        """
        self._subscribed[full] = name
        self._refuse_echo(full)

    def _refuse_echo(self, full: str) -> None:
        if full in self._published and full in self._subscribed:
            raise UsageFault(
                "a node of a car would hear itself, and the car drive on by its own echo",
                where=full,
                expected="a topic that this node either publishes or hears",
                got=f"published as {self._published[full]}, heard as {self._subscribed[full]}",
                remedy="give one of the two another name: by --remap, or in the file of --mux "
                "or --priorities",
            )
