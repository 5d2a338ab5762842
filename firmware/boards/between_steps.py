"""A board's work between steps: its link, random bits, the record that a start was good."""

import os

from firmware.compat import TYPE_CHECKING, array

if TYPE_CHECKING:
    from firmware.boards.link import Link
    from firmware.core.contract import Starts

_DRAWN = 16  # a step hears at most a dozen requests that take a nonce
_MASK = (1 << 30) - 1


class BetweenSteps:
    """The work between steps. A step takes random bits by ``draw`` and sets ``is_healthy`` once."""

    def __init__(self, link: "Link", starts: "Starts") -> None:
        self.is_healthy = False
        self._link = link
        self._starts = starts
        self._entropy = Entropy()
        self.draw = self._entropy.draw

    def run(self, may_move: bool) -> bool:
        """Pump the link; while the car may not move, do what allocates or writes to flash, too.

        Return True if it did such a thing, which takes longer than a beat.
        """
        self._link.pump()
        if may_move:
            return False
        did = self._entropy.refill()
        if self.is_healthy:
            self.is_healthy = False
            self._starts.mark_healthy()
            did = True
        return did


class Entropy:
    """A pool of random words, filled between steps, because asking the port for them allocates.

    ``draw`` takes 30 bits; ``refill`` replaces what was drawn.
    """

    def __init__(self) -> None:
        self._words = array("i", [0] * _DRAWN)
        self._left = 0
        self.refill()

    def refill(self) -> bool:
        """Replace the words that were drawn; return True if there were any.

        What that leaves on the heap is collected when the heap is full. That happens here, too, and
        so not in a step.
        """
        if self._left == _DRAWN:
            return False
        for i in range(self._left, _DRAWN):
            self._words[i] = int.from_bytes(os.urandom(4), "little") & _MASK
        self._left = _DRAWN
        return True

    def draw(self) -> int:
        """Return 30 random bits; of an empty pool the last word again.

        That does no harm: whoever asks so often in one step is one peer, which is told its own
        number twice.
        """
        self._left = max(self._left - 1, 0)
        return self._words[self._left]
