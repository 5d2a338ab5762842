"""A dead time in whole steps."""

from collections import deque
from math import floor


class DelayLine:
    """A queue of round(delay / step) samples, zeros at first (halves round up, as in C++).

    Delays count steps: a line made for 0.1 s in steps of 25 ms returns the fourth last sample,
    however long the steps turn out to be.
    """

    def __init__(self, delay_s: float, dt_s: float) -> None:
        self._samples = deque([0.0] * floor(delay_s / dt_s + 0.5))

    def passed(self, sample: float) -> float:
        """Put ``sample`` in, return the oldest one."""
        self._samples.append(sample)
        return self._samples.popleft()
