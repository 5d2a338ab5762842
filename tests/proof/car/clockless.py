"""Deadlines without a clock: an open one may pass at any step, whatever it was set to.

That admits every duration, and more: what holds for all of these sequences holds for the real ones.
Two ways, for two needs. A deadline whose passing the promises know of (a nonce's second, a lease)
is passed by an event of its own, before a step's messages are heard. Any other is asked about in
the moment that the program looks at it.
"""

from collections.abc import Callable

from firmware.core.deadlines import Deadline


class Clockless(Deadline):
    """Takes the place of a ``Deadline`` that exists: its class is changed, nothing else of it."""

    name: str
    is_due: bool
    has_event: bool
    _asks: Callable[[str, bool | None], bool]
    _notes: Callable[[str, int], None]

    def set(self, now_us: int, in_us: int) -> None:
        self.is_open = in_us > 0
        self.is_due = False
        self._notes(self.name, in_us)

    def shut(self) -> None:
        self.is_open = self.is_due = False

    def step(self, now_us: int) -> None:
        if not self.is_open:
            return
        if self._asks(self.name, self.is_due if self.has_event else None):
            self.is_due = self.is_open = False


def without_clock(
    deadline: Deadline,
    name: str,
    has_event: bool,
    asks: Callable[[str, bool | None], bool],
    notes: Callable[[str, int], None],
) -> Clockless:
    """This very deadline, of the other class from now on."""
    deadline.__class__ = Clockless
    assert isinstance(deadline, Clockless)
    deadline.name, deadline.has_event, deadline.is_due = name, has_event, False
    deadline._asks, deadline._notes = asks, notes
    deadline._at_us = 0
    return deadline
