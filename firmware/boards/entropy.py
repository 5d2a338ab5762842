"""Random bits for the step, drawn from the port between steps: asking for them allocates."""

import os

from firmware.compat import array

_DRAWN = 16  # a step hears at most a dozen requests that take a nonce
_MASK = (1 << 30) - 1


class Entropy:
    """``draw`` is 30 bits; ``refill`` makes up for what was drawn."""

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
