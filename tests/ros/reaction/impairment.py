"""What a bad line does to packets: loss, delay, reordering, stalls and bursts, by a seed.

No clock and no socket: ``Impairment.take`` is told when a packet came and says when it goes on.
Everything that it does is counted, and the same seed and packets come out the same.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from random import Random

DRAWS = 4  # of each packet, whatever is asked of the line: so the next packet's chance is its own


@dataclass(frozen=True)
class LineSettings:
    """How the line is. Shares from 0 to 1, times in s; a stall begins every ``every_s``.

    Of those ``doubled`` a copy goes besides, late by itself. What is longer than ``longest_bytes``
    is lost; 0 lets all lengths pass.

    What comes during a stall goes on when it ends, all at once; or is lost, if it ``is_gap``.
    """

    loss: float = 0.0
    delay_s: float = 0.0
    jitter_s: float = 0.0
    held_back: float = 0.0
    hold_s: float = 0.0
    doubled: float = 0.0
    longest_bytes: int = 0
    every_s: float = 0.0
    stall_s: float = 0.0
    is_gap: bool = False

    def stall_left_s(self, now_s: float) -> float:
        """How long the stall of this moment still takes, 0 outside of one."""
        if not self.every_s:
            return 0.0
        return max(self.stall_s - now_s % self.every_s, 0.0)


CLEAR = LineSettings()
CUT = LineSettings(loss=1.0)


@dataclass
class Counts:
    """What became of packets: each one that was taken was lost, refused, delivered, or waits."""

    taken: int = 0
    lost: int = 0
    refused: int = 0  # by the bound of the line
    delayed: int = 0
    held_back: int = 0
    doubled: int = 0  # each one more that is delivered or waits
    too_long: int = 0  # and lost
    stalled: int = 0
    delivered: int = 0
    reordered: int = 0  # after one that came later


class Impairment:
    """One direction of a line, for so many packets at most; what is more is refused."""

    def __init__(self, seed: str, packets_max: int) -> None:
        self.settings = CLEAR
        self.counts = Counts()
        self._random = Random(seed)
        self._packets_max = packets_max
        self._waiting: list[tuple[float, int, bytes]] = []
        self._newest = -1

    def take(self, packet: bytes, now_s: float) -> None:
        """A packet came: it is lost, or kept until it is due."""
        settings, counts = self.settings, self.counts
        number = counts.taken
        counts.taken += 1
        lost, late, back, double = (self._random.random() for _ in range(DRAWS))
        if number >= self._packets_max:
            counts.refused += 1
            return
        stall_s = settings.stall_left_s(now_s)
        is_too_long = 0 < settings.longest_bytes < len(packet)
        counts.too_long += is_too_long
        if lost < settings.loss or (settings.is_gap and stall_s > 0.0) or is_too_long:
            counts.lost += 1
            return
        wait_s = settings.delay_s + late * settings.jitter_s
        counts.delayed += wait_s > 0.0
        if back < settings.held_back:
            counts.held_back += 1
            wait_s += settings.hold_s
        if stall_s > 0.0:
            counts.stalled += 1
            wait_s = max(wait_s, stall_s)
        # In whole us: those of one stall are due at the same moment, and so in their order
        heapq.heappush(self._waiting, (round(now_s + wait_s, 6), number, packet))
        if double < settings.doubled:
            counts.doubled += 1
            # The same draw, spread over the jitter anew
            wait_s = settings.delay_s + double / settings.doubled * settings.jitter_s
            heapq.heappush(self._waiting, (round(now_s + wait_s, 6), number, packet))

    def due(self, now_s: float) -> list[bytes]:
        """The packets that go on by now, in the order in which they do."""
        packets = []
        while self._waiting and self._waiting[0][0] <= now_s:
            _, number, packet = heapq.heappop(self._waiting)
            self.counts.delivered += 1
            self.counts.reordered += number < self._newest
            self._newest = max(number, self._newest)
            packets.append(packet)
        return packets

    @property
    def next_s(self) -> float | None:
        """When the next one is due; None while none waits."""
        return self._waiting[0][0] if self._waiting else None

    @property
    def waiting(self) -> int:
        return len(self._waiting)
