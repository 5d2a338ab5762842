"""Doubts whose board is at the line: until it is known, only stops and questions pass, logs wait.

A cable that was out may lead to another board than before. From the loss of the line, or of all
that came over it, to the next word of who is there the owner is in doubt; a board that is not its
car's is strange until it is gone.
"""

from __future__ import annotations

from collections import deque
from enum import Enum
from typing import NamedTuple

from host_bridge.link.rights import ALL, Right
from host_bridge.observers import Observers

UP, DOWN = "up", "down"  # to the car, from the car
# A board that is back says within 0.2 s who it is, in some fifty pieces; one that starts first is
# silent meanwhile. The rest is for a line that is bad: some 2 MB.
_HELD = 1 << 14


class Relayed(NamedTuple):
    """Whole frames that went over the line, and when."""

    direction: str
    frames: bytes
    time_us: int


class Whose(Enum):
    """The board at the line."""

    OURS = "ours, as far as anybody knows"
    DOUBTED = "nobody knows"
    STRANGE = "another car's"


class Doubt:
    """``tell`` what was relayed: ``taps`` hear it, once it is sure that it is of their car."""

    def __init__(self, taps: Observers[Relayed]) -> None:
        self.whose = Whose.OURS
        self._taps = taps
        self._held: deque[Relayed] = deque(maxlen=_HELD)
        self._is_met = False

    @property
    def rights(self) -> Right:
        """The most that any client has at this moment."""
        return ALL if self.whose is Whose.OURS else Right.WATCH | Right.STOP

    def trust(self) -> None:
        """It has said who it is, and is our car."""
        self._is_met = True
        self.whose = Whose.OURS
        while self._held:
            self._taps.tell(self._held.popleft())

    def doubt(self) -> None:
        """Nothing is known of whoever is there next. Without effect before anybody was met."""
        if self._is_met:
            self.whose = Whose.DOUBTED
            self._held.clear()

    def refuse(self) -> None:
        """It has said who it is, and is another car: what it said is for no log of ours."""
        self.whose = Whose.STRANGE
        self._held.clear()

    def end(self) -> None:
        """Nobody will know any more who heard it: what we said is kept, Stops among it."""
        for relayed in self._held:
            if relayed.direction == UP:
                self._taps.tell(relayed)
        self._held.clear()

    def tell(self, relayed: Relayed) -> None:
        if self.whose is Whose.OURS:
            self._taps.tell(relayed)
        elif self.whose is Whose.DOUBTED:
            self._held.append(relayed)
