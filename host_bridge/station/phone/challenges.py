"""The age of what a phone says, by the numbers that the server sent it.

TCP delivers late what it had to send again, and then all at once, as if it were new. So a frame of
a hold names the newest number that the phone has got, and how long ago. The server knows when it
sent that number: the frame was said then and so much later, or later still. It never looks younger
than it is, and no clock of a phone is trusted for longer than since that number.
"""

from __future__ import annotations

import secrets
from collections import OrderedDict, deque

_KEPT = 64  # numbers: three seconds of them; a frame that names an older one is too old for all
_BITS = 32  # as a frame has room for
_AGES = 100  # of which the 95th percentile counts
_LATE = 0.95  # chosen: one late frame in twenty is every network's
SINCE_US = 100  # us, the unit in which a phone says how long ago


class Challenges:
    """The numbers of one phone, each random, and when it was sent."""

    def __init__(self) -> None:
        self._sent_us: OrderedDict[int, int] = OrderedDict()
        self._ages_us: deque[int] = deque(maxlen=_AGES)

    def new(self, now_us: int) -> int:
        """Return the number to send at this moment."""
        number = secrets.randbits(_BITS)
        self._sent_us[number] = now_us
        if len(self._sent_us) > _KEPT:
            self._sent_us.popitem(last=False)
        return number

    def frame_time_us(self, number: int, since: int, now_us: int) -> int | None:
        """Return when a frame was said at the latest; None for a number that was not sent.

        ``since`` in units of ``SINCE_US``.
        """
        sent_us = self._sent_us.get(number)
        if sent_us is None:
            return None
        frame_time_us = min(sent_us + since * SINCE_US, now_us)
        self._ages_us.append(now_us - frame_time_us)
        return frame_time_us

    def late_us(self) -> int:
        """Return the age within which 95 % of the last hundred frames came."""
        ages_us = sorted(self._ages_us)
        return ages_us[int(_LATE * (len(ages_us) - 1))] if ages_us else 0
