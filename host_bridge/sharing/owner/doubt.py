"""The owner's doubt about whose board is at the line.

A cable that was out may lead to another board than before. From the loss of the line, or of
everything that came over it, until the next Identity the owner is in doubt: only stops and
questions pass, and logs wait. A board that is not its car's counts as strange until it is gone.
"""

from __future__ import annotations

from collections import deque
from enum import Enum
from typing import NamedTuple

from host_bridge.core.system.observers import Observers
from host_bridge.sharing.owner.rights import ALL, Right

UP, DOWN = "up", "down"  # to the car, from the car
# A board that is back identifies itself within 0.2 s, in some fifty pieces; one that restarts is
# silent at first. The rest is for a bad line: some 2 MB.
_HELD = 1 << 14


class Relayed(NamedTuple):
    """Whole frames that went over the line, their direction and time."""

    direction: str
    frames: bytes
    time_us: int


class Whose(Enum):
    """The owner of the board at the line."""

    OURS = "ours, as far as anybody knows"
    DOUBTED = "nobody knows"
    STRANGE = "another car's"


class Doubt:
    """The state of the doubt, and the frames held back meanwhile.

    ``tell`` it what was relayed; ``taps`` get it once it is certain that it belongs to their car.
    """

    def __init__(self, taps: Observers[Relayed]) -> None:
        self.whose = Whose.OURS
        self._taps = taps
        self._held: deque[Relayed] = deque(maxlen=_HELD)
        self._is_met = False

    @property
    def rights(self) -> Right:
        """The most that any client may do at this moment."""
        return ALL if self.whose is Whose.OURS else Right.WATCH | Right.STOP

    def trust(self) -> None:
        """Note that the board is our car's; release the held frames to the taps."""
        self._is_met = True
        self.whose = Whose.OURS
        while self._held:
            self._taps.tell(self._held.popleft())

    def doubt(self) -> None:
        """Note that the next board is unknown.

        Has no effect before a first board was identified.
        """
        if self._is_met:
            self.whose = Whose.DOUBTED
            self._held.clear()

    def refuse(self) -> None:
        """Note that the board is another car's; drop the held frames, which belong in no log."""
        self.whose = Whose.STRANGE
        self._held.clear()

    def end(self) -> None:
        """Release the held frames that we sent, Stops among them.

        Who received them stays unknown.
        """
        for relayed in self._held:
            if relayed.direction == UP:
                self._taps.tell(relayed)
        self._held.clear()

    def tell(self, relayed: Relayed) -> None:
        if self.whose is Whose.OURS:
            self._taps.tell(relayed)
        elif self.whose is Whose.DOUBTED:
            self._held.append(relayed)
