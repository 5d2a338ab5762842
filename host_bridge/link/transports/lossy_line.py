"""A simulated bad line in one direction: seeded, without clock or socket, with exact counts."""

from __future__ import annotations

import heapq
import random
import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

HELD_BYTES = 512  # this much without a delimiter passes as it is: no frame of ours is so long
_FRAME = re.compile(
    rb"\0*[^\0]{1,%d}\0|\0*[^\0]{%d}|\0{%d}" % (HELD_BYTES - 1, HELD_BYTES, HELD_BYTES)
)
_PIECE = re.compile(rb"[^\0]+")


@dataclass(frozen=True)
class LineParameters:
    """The impairments of a line. Probabilities are 0 to 1.

    Bursts follow Gilbert (Bell Syst. Tech. J. 39, 1960): from one frame to the next a burst begins
    with probability ``burst_begin`` and ends with ``burst_end``, and within it every frame is
    lost. So a burst takes 1 / burst_end frames on average, and begin / (begin + end) of all
    frames.

    Gaps have a heavy tail: one begins at a frame with probability ``gap_begin``, takes
    ``gap_least_us`` at least, and longer than t with probability (``gap_least_us`` / t) to the
    power of ``gap_shape`` (Pareto). All that goes in meanwhile is lost. So long ones are rare, and
    not as rare as Gilbert's: interference and a scan for access points last as long as they last.
    """

    loss: float = 0.0  # per frame, outside bursts
    corrupt: float = 0.0  # per byte, delimiters included: one of its bits flips
    duplicate: float = 0.0  # per frame
    delay_us: int = 0
    jitter_us: int = 0  # upper limit; uniform, added to delay_us, so that frames can be reordered
    burst_begin: float = 0.0
    burst_end: float = 1.0
    gap_begin: float = 0.0
    gap_least_us: int = 0
    gap_shape: float = 1.0


class LineTrace:
    """One way of a measured link, played over and over from its first frame on.

    A frame fares as the probe did that was sent last at that moment of the trace.
    """

    def __init__(self, probes: Sequence[tuple[int, int | None]], offset_us: int = 0) -> None:
        """Take when each probe was sent and how long it took, in us; None is lost. Two at least."""
        self._sent_us = [sent_us - probes[0][0] for sent_us, _ in probes]
        self._took_us = [took_us for _, took_us in probes]
        # The last one counts for as long as the one before it did
        self._span_us = 2 * self._sent_us[-1] - self._sent_us[-2]
        self._offset_us = offset_us
        self._began_us: int | None = None

    def took_us(self, now_us: int) -> int | None:
        """Return how long a frame takes that goes in now; None if it is lost."""
        if self._began_us is None:
            self._began_us = now_us
        at_us = (now_us - self._began_us + self._offset_us) % self._span_us
        return self._took_us[bisect_right(self._sent_us, at_us) - 1]


@dataclass
class LineCounts:
    """The exact counts of what a line did. A duplicate counts as a frame from its creation on."""

    frames_in: int = 0
    lost: int = 0  # in bursts and gaps or not
    lost_in_bursts: int = 0
    duplicated: int = 0
    corrupted: int = 0  # frames with a flipped bit
    flipped_bits: int = 0
    frames_out: int = 0
    overtaken: int = 0  # reordered: came out after a frame that had gone in later
    intact_out: int = 0  # without a flipped bit
    pieces_out: int = 0  # runs of bytes between delimiters

    @property
    def rejects(self) -> int:
        """The number of frames that a receiver must reject once all has arrived.

        It holds for frames with a delimiter on both sides, and if an intact frame comes last. A
        flipped bit can cut a frame in two, or join two, so this is not ``corrupted``.
        """
        return self.pieces_out - self.intact_out


class LossyLine:
    """A bad line: bytes in; frames out, later and not all. Two lines with one seed behave the same.

    Frames are split at their delimiters (zero bytes). The time given must not run backwards.
    """

    def __init__(
        self, parameters: LineParameters, seed: int | str, trace: LineTrace | None = None
    ) -> None:
        """Take the impairments; those of a ``trace`` come first."""
        self.counts = LineCounts()
        self._trace = trace
        self._parameters = parameters
        self._random = random.Random(seed)
        self._part = b""  # the beginning of a frame that is not complete
        self._waiting: list[tuple[int, int, bytes, bool]] = []  # due_us, order, frame, is_intact
        self._order = 0  # twice the number of the last frame in; its duplicate has one more
        self._latest_out = 0
        self._is_in_burst = False
        self._gap_ends_us = 0.0
        self._is_in_piece = False

    def reseed(self, seed: int | str) -> None:
        """Begin its chance anew; the frames on their way, and a burst, stay."""
        self._random.seed(seed)

    def pass_(self, data: bytes, now_us: int) -> None:
        """Put bytes in, in pieces of any size."""
        self._part += data
        end = 0
        for match in _FRAME.finditer(self._part):
            self._pass_frame(match.group(), now_us)
            end = match.end()
        self._part = self._part[end:]

    def due(self, now_us: int) -> list[bytes]:
        """Return the frames that are due by now, in order; each only once."""
        frames = []
        while self._waiting and self._waiting[0][0] <= now_us:
            _, order, frame, is_intact = heapq.heappop(self._waiting)
            self._count_out(order, frame, is_intact)
            frames.append(frame)
        return frames

    def next_due_us(self) -> int | None:
        """Return when the next frame is due; None if none is on its way."""
        return self._waiting[0][0] if self._waiting else None

    def clear(self) -> None:
        """Drop the frames on their way, as when the line is cut."""
        self._part = b""
        self._waiting.clear()

    def _pass_frame(self, frame: bytes, now_us: int) -> None:
        self.counts.frames_in += 1
        self._order += 2
        took_us = self._trace.took_us(now_us) if self._trace else 0
        if took_us is None or self._is_in_gap(now_us) or self._is_lost():
            self.counts.lost += 1
            return
        now_us += took_us
        self._send(frame, self._order, now_us)
        if self._random.random() < self._parameters.duplicate:
            self.counts.duplicated += 1
            self._send(frame, self._order + 1, now_us)

    def _is_in_gap(self, now_us: int) -> bool:
        how = self._parameters
        if not how.gap_begin:  # and no chance is taken for it
            return False
        if now_us >= self._gap_ends_us and self._random.random() < how.gap_begin:
            took_us = how.gap_least_us * self._random.paretovariate(how.gap_shape)
            self._gap_ends_us = now_us + took_us
        is_in_gap = now_us < self._gap_ends_us
        self.counts.lost_in_bursts += is_in_gap
        return is_in_gap

    def _is_lost(self) -> bool:
        chance = self._random.random()
        if self._is_in_burst:
            self._is_in_burst = chance >= self._parameters.burst_end
        else:
            self._is_in_burst = chance < self._parameters.burst_begin
        self.counts.lost_in_bursts += self._is_in_burst
        return self._is_in_burst or self._random.random() < self._parameters.loss

    def _send(self, frame: bytes, order: int, now_us: int) -> None:
        due_us = now_us + self._parameters.delay_us
        if self._parameters.jitter_us:
            due_us += self._random.randint(0, self._parameters.jitter_us)
        damaged = self._corrupted(frame) if self._parameters.corrupt else frame
        heapq.heappush(self._waiting, (due_us, order, damaged, damaged == frame))

    def _corrupted(self, frame: bytes) -> bytes:
        damaged = bytearray(frame)
        for at in range(len(damaged)):
            if self._random.random() < self._parameters.corrupt:
                damaged[at] ^= 1 << self._random.randrange(8)  # bits of the byte
                self.counts.flipped_bits += 1
        self.counts.corrupted += damaged != frame
        return bytes(damaged)

    def _count_out(self, order: int, frame: bytes, is_intact: bool) -> None:
        counts = self.counts
        counts.frames_out += 1
        counts.intact_out += is_intact
        counts.overtaken += order // 2 < self._latest_out
        self._latest_out = max(self._latest_out, order // 2)
        joins = self._is_in_piece and frame[0] != 0
        counts.pieces_out += len(_PIECE.findall(frame)) - joins
        self._is_in_piece = frame[-1] != 0
