"""The owner's verification that the board at the line is its car's.

A cable that was out may lead to another board than before. From the loss of the line, or of
everything that came over it, until the next Identity the board is unverified: only stops and
questions pass, and logs wait. A board that is not its car's counts as foreign until it is gone.
"""

from __future__ import annotations

from collections import deque
from enum import Enum
from typing import NamedTuple

from host_bridge.core.system.observers import Observers
from host_bridge.sharing.owner.rights import ALL, ClientRight

UP, DOWN = "up", "down"  # to the car, from the car
# A board that is back identifies itself within 0.2 s, in some fifty pieces; one that restarts is
# silent at first. The rest is for a bad line: some 2 MB.
_HELD = 1 << 14


class RelayedFrames(NamedTuple):
    """Whole frames that went over the line, their direction and time."""

    direction: str
    frames: bytes
    time_us: int


class BoardTrust(Enum):
    """The trust in the board at the line."""

    TRUSTED = "ours, as far as anybody knows"
    UNVERIFIED = "nobody knows"
    FOREIGN = "another car's"


class BoardVerification:
    """The trust in the board at the line, and the frames held back until it is verified.

    ``relay`` it what was relayed; ``taps`` get it once it is certain that it belongs to their car.
    """

    def __init__(self, taps: Observers[RelayedFrames]) -> None:
        self.state = BoardTrust.TRUSTED
        self._taps = taps
        self._held: deque[RelayedFrames] = deque(maxlen=_HELD)
        self._was_confirmed = False

    @property
    def rights(self) -> ClientRight:
        """The most that any client may do at this moment."""
        return ALL if self.state is BoardTrust.TRUSTED else ClientRight.WATCH | ClientRight.STOP

    def confirm(self) -> None:
        """Note that the board is our car's; release the held frames to the taps."""
        self._was_confirmed = True
        self.state = BoardTrust.TRUSTED
        while self._held:
            self._taps.publish(self._held.popleft())

    def invalidate(self) -> None:
        """Note that the next board is unknown.

        Has no effect before a first board was identified.
        """
        if self._was_confirmed:
            self.state = BoardTrust.UNVERIFIED
            self._held.clear()

    def reject(self) -> None:
        """Note that the board is another car's; drop the held frames, which belong in no log."""
        self.state = BoardTrust.FOREIGN
        self._held.clear()

    def flush(self) -> None:
        """Release the held frames that we sent, Stops among them.

        Who received them stays unknown.
        """
        for relayed in self._held:
            if relayed.direction == UP:
                self._taps.publish(relayed)
        self._held.clear()

    def relay(self, relayed: RelayedFrames) -> None:
        if self.state is BoardTrust.TRUSTED:
            self._taps.publish(relayed)
        elif self.state is BoardTrust.UNVERIFIED:
            self._held.append(relayed)
