"""The cars' reports of accepted claims, and the check that two cars accepted the same bytes.

A car reports a running CRC-32 over its accepted claims with their count and the last sequence. Two
cars that were bound together and lost nothing show the same CRC. After a loss the CRCs differ for
ever, but the claims accepted between two reports can still be compared: CRC-32 is linear, so that
crc(AB) = shift(crc(A), len B) ^ crc(B), and shift(x, n) = crc(n zeros from x) ^ crc(n zeros).
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass

from host_bridge.link.protocol.wire import CLAIM_SIZE

_KEPT = 256  # reports; 2.5 s at 100 Hz
_LONGEST = 4096  # claims between two reports that are still compared
_NUMBERS = 0xFFFF


@dataclass(frozen=True, slots=True)
class AcceptanceReport:
    """One report of the claims accepted up to ``sequence``; ``applied_us`` is in host time."""

    sequence: int
    count: int
    crc: int
    applied_us: int | None


class Acceptance:
    """The recent reports of one car about our session's claims, by sequence."""

    def __init__(self) -> None:
        self.latest: AcceptanceReport | None = None
        self._reports: dict[int, AcceptanceReport] = {}

    def take(self, report: AcceptanceReport) -> None:
        if self.latest and (report.sequence, report.count) == (
            self.latest.sequence,
            self.latest.count,
        ):
            return
        self.latest = report
        self._reports.pop(report.sequence, None)
        self._reports[report.sequence] = report
        if len(self._reports) > _KEPT:
            del self._reports[next(iter(self._reports))]

    def at(self, sequence: int) -> AcceptanceReport | None:
        return self._reports.get(sequence)


def newest_common(records: list[Acceptance]) -> list[AcceptanceReport] | None:
    """Return each car's report at the newest sequence that all reported; None if there is none."""
    best: list[AcceptanceReport] | None = None
    for record in records:
        if record.latest is None:
            return None
        found = [other.at(record.latest.sequence) for other in records]
        common = [report for report in found if report is not None]
        if len(common) == len(records) and (best is None or _is_after(common[0], best[0])):
            best = common
    return best


def _is_after(report: AcceptanceReport, other: AcceptanceReport) -> bool:
    return 0 < (report.sequence - other.sequence & _NUMBERS) <= _NUMBERS >> 1


class Agreement:
    """The comparison of the claims that two cars accepted; ``step`` compares what is new.

    ``agreed`` claims were accepted by both with the same bytes; ``missed`` were lost on the way to
    one or the other; ``differs_at`` is the first sequence at which the bytes differed. ``crcs``
    are the two cars' CRCs over all claims that could be compared.
    """

    def __init__(self, one: Acceptance, other: Acceptance) -> None:
        self.agreed = 0
        self.missed = 0
        self.crcs = [0, 0]
        self.differs_at: int | None = None
        self._records = [one, other]
        self._since: list[AcceptanceReport] | None = None

    def is_equal(self) -> bool:
        """Return False once the bytes differed; True proves nothing while ``agreed`` is 0."""
        return self.differs_at is None

    def begin(self, sequence: int) -> None:
        """Note that the first claim, of this sequence, goes to both.

        Their CRCs began from 0 when bound.
        """
        nothing = AcceptanceReport(sequence - 1 & _NUMBERS, 0, 0, None)
        self._since = [nothing, nothing]

    def step(self) -> None:
        now = newest_common(self._records)
        if now is None or (self._since and now[0].sequence == self._since[0].sequence):
            return
        if self._since is not None:
            self._compare(self._since, now)
        self._since = now

    def _compare(self, since: list[AcceptanceReport], now: list[AcceptanceReport]) -> None:
        offered = now[0].sequence - since[0].sequence & _NUMBERS
        accepted = [b.count - a.count & _NUMBERS for a, b in zip(since, now, strict=True)]
        if offered > _LONGEST:
            return
        if accepted != [offered, offered]:
            self.missed += sum(max(offered - count, 0) for count in accepted)
            return
        zeros = bytes(offered * CLAIM_SIZE)
        for i in range(2):
            # crc(B) from crc(AB) and crc(A), then appended to the CRC of the earlier ones
            new = now[i].crc ^ zlib.crc32(zeros, since[i].crc) ^ zlib.crc32(zeros)
            self.crcs[i] = zlib.crc32(zeros, self.crcs[i]) ^ zlib.crc32(zeros) ^ new
        before = zlib.crc32(zeros, since[0].crc) ^ zlib.crc32(zeros, since[1].crc)
        self._judge(now[0].crc ^ now[1].crc == before, offered, now[0].sequence)

    def _judge(self, is_same: bool, count: int, sequence: int) -> None:
        if is_same:
            self.agreed += count
        elif self.differs_at is None:
            self.differs_at = sequence
