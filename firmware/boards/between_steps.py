"""What a board does between steps: its link, random bits, the record that a start was good."""

import os

from firmware.compat import TYPE_CHECKING, array

if TYPE_CHECKING:
    from firmware.boards.contract import Starts
    from firmware.boards.link import Link

_DRAWN = 16  # a step hears at most a dozen requests that take a nonce
_MASK = (1 << 30) - 1


class BetweenSteps:
    """A step takes what is ready: ``draw`` from the random bits, and say ``is_healthy`` once."""

    def __init__(self, link: "Link", starts: "Starts") -> None:
        self.is_healthy = False
        self._link = link
        self._starts = starts
        self._entropy = Entropy()
        self.draw = self._entropy.draw

    def run(self, may_move: bool) -> bool:
        """Pump the link; what allocates or writes to flash waits until the car may not move.
        True if it did such a thing, which takes longer than a beat."""
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
    """Random bits for the step, drawn from the port between steps, because asking for them
    allocates. ``draw`` is 30 bits; ``refill`` makes up for what was drawn."""

    def __init__(self) -> None:
        self._words = array("i", [0] * _DRAWN)
        self._left = 0
        self.refill()

    def refill(self) -> bool:
        """Draw anew what was drawn; True if there was anything to do. What it leaves on the heap is
        collected when that is full, which so is here, and not in a step."""
        if self._left == _DRAWN:
            return False
        for i in range(self._left, _DRAWN):
            self._words[i] = int.from_bytes(os.urandom(4), "little") & _MASK
        self._left = _DRAWN
        return True

    def draw(self) -> int:
        """Of a pool that is dry the last word again: whoever asks twice in one step is one peer,
        who is told his own number twice."""
        self._left = max(self._left - 1, 0)
        return self._words[self._left]
