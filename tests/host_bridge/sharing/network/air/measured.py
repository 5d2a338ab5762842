"""What two logs tell of one drive: the one of the car's host and the one of the guest.

Both are on one machine, so their times are of one clock.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from pathlib import Path

from firmware.protocol.messages import Claim, Status
from host_bridge.link.protocol import wire
from host_bridge.logs import reading

STANDS_MM_S = 50  # nobody sees a car that moves more slowly
HALF_NUMBERS = 0x8000


@dataclass(frozen=True)
class Moment:
    """One message of a log, and when it passed there."""

    at_s: float
    message: Claim | Status


def messages(path: Path) -> tuple[list[Moment], list[Moment]]:
    """Return the claims that went to a car, and its statuses."""
    claims: list[Moment] = []
    statuses: list[Moment] = []
    decoders = {"up": wire.MessageDecoder(), "down": wire.MessageDecoder()}
    for record in reading.read(path):
        if not isinstance(record.value, bytes):
            continue
        for message in decoders[record.topic].feed(record.value):
            if isinstance(message, Claim) and record.topic == "up":
                claims.append(Moment(record.time_us * 1e-6, message))
            elif isinstance(message, Status):
                statuses.append(Moment(record.time_us * 1e-6, message))
    return claims, statuses


def round_trips_ms(claims: list[Moment], statuses: list[Moment]) -> list[float]:
    """Return for each status how long ago the claim was made that it names as the newest.

    Each claim counts once, by the first status that names it.
    """
    made_s: dict[int, float] = {}
    found: list[float] = []
    at = 0
    for status in statuses:
        while at < len(claims) and claims[at].at_s <= status.at_s:
            made_s[claims[at].message.sequence] = claims[at].at_s  # type: ignore[union-attr]
            at += 1
        began_s = made_s.pop(status.message.claim_sequence, None)  # type: ignore[union-attr]
        if began_s is not None and status.at_s - began_s < 1.0:  # not of a round of numbers before
            found.append((status.at_s - began_s) * 1e3)
    return found


def ways_ms(sent: list[Moment], arrived: list[Moment]) -> list[float]:
    """Return how long claims were on their way from one log to the other."""
    sent_s = [it.at_s for it in sent]
    by_number = {it.message.sequence: it.at_s for it in sent}  # type: ignore[union-attr]
    assert len(by_number) == len(sent), "a log of less than a round of numbers"
    found = []
    for it in arrived:
        began_s = by_number.get(it.message.sequence)  # type: ignore[union-attr]
        if began_s is not None and sent_s[0] <= began_s <= it.at_s:
            found.append((it.at_s - began_s) * 1e3)
    return found


@dataclass(frozen=True)
class Standstill:
    """How a car came to rest after a moment; its way is the integral of its own speed."""

    begins_ms: float  # until it no longer drives
    stands_ms: float
    metres: float
    speed_mps: float  # at that moment


def standstill(statuses: list[Moment], at_s: float, driving: set[int]) -> Standstill:
    """Return how the car came to rest after ``at_s``. Raises ValueError if it did not."""
    times = [it.at_s for it in statuses]
    place = bisect_left(times, at_s)
    if not 0 < place < len(statuses):
        raise ValueError("the log has nothing of before or after")
    first = statuses[place - 1].message.speed_mm_s  # type: ignore[union-attr]
    begins_ms, metres, last_s = None, 0.0, at_s
    for it in statuses[place:]:
        speed = it.message.speed_mm_s  # type: ignore[union-attr]
        metres += abs(speed) * 1e-3 * (it.at_s - last_s)
        last_s = it.at_s
        if begins_ms is None and it.message.state not in driving:  # type: ignore[union-attr]
            begins_ms = (it.at_s - at_s) * 1e3
        if begins_ms is not None and abs(speed) < STANDS_MM_S:
            return Standstill(begins_ms, (it.at_s - at_s) * 1e3, metres, first * 1e-3)
    raise ValueError("it did not come to rest")


def quantile(values: list[float], share: float) -> float | None:
    """Return the value below which this share lies; None of nothing."""
    if not values:
        return None
    return sorted(values)[min(int(share * len(values)), len(values) - 1)]
