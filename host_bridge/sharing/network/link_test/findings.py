"""The meaning of a trace of a link for driving over it: stops, leases, metres, a cap. No I/O.

A car stops when the newest claim that it has is older than the lease, less the bound of its clock.
So the age of the newest claim that has arrived, over the whole trace, tells how often it would
have stopped. A trace of a minute cannot tell what happens once an hour, and the bounds say so.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from host_bridge.core.files.link_traces import Probe

LEASES_S = (0.12, 0.15, 0.2, 0.25, 0.3)  # firmware/core/SAFETY.md: 0.3 at most, for any speed
_CLOCK_S = 0.0013  # a board's step, which an answer waits for, and its line
_STEP_S = 0.01  # a car's control period
_CONFIDENCE = 0.95  # as intervals are told elsewhere in Tandem
_HOUR_S = 3600.0  # s of an hour
_QUANTILES = (0.5, 0.95, 0.99, 0.0)  # those that Findings names, the least last


@dataclass(frozen=True)
class StopRate:
    """The stops of one lease over a trace, and an hour's with the bounds of 95 %."""

    lease_s: float
    stops: int
    per_h: float
    low_per_h: float
    high_per_h: float


@dataclass(frozen=True)
class Findings:
    """The numbers of one trace. Times in s, shares from 0 to 1; None where nothing came back."""

    seconds: float
    probes: int
    trip_p50_s: float | None
    trip_p95_s: float | None
    trip_p99_s: float | None
    trip_least_s: float | None
    lost_up: float
    lost_down: float  # of those that arrived there
    longest_run: int  # of losses in a row, both ways together
    reordered: float
    clock_s: float | None  # how well a car's clock can be known over it
    single: tuple[StopRate, ...]  # each claim sent once
    doubled: tuple[StopRate, ...]  # and with its copy 5 ms later

    def lease_s(self) -> float | None:
        """Return the shortest lease without a stop, claims doubled; None if there is none.

        A car takes no claim of a lease of which a quarter is less than its clock is known to.
        """
        known_s = self.clock_s
        if known_s is None:
            return None
        kept = (it.lease_s for it in self.doubled if not it.stops and known_s <= it.lease_s / 4)
        return next(kept, None)


def findings(probes: Sequence[Probe]) -> Findings:
    """Return what a trace means; every second probe is the copy of the one before."""
    trips = sorted(it.up_s + it.down_s for it in probes
                   if it.up_s is not None and it.down_s is not None)  # fmt: skip
    arrived = [it for it in probes if it.up_s is not None]
    seconds = probes[-1].sent_s - probes[0].sent_s if len(probes) > 1 else 0.0
    clock_s = trips[0] / 2 + _CLOCK_S if trips else None
    runs = [len(list(group)) for is_lost, group in groupby(
        probes, lambda it: it.up_s is None or it.down_s is None) if is_lost]  # fmt: skip
    p50_s, p95_s, p99_s, least_s = (_quantile(trips, it) for it in _QUANTILES)
    single, doubled = (
        tuple(_rate(_claims(probes, copies), it, clock_s, seconds) for it in LEASES_S)
        for copies in (1, 2)
    )
    return Findings(
        seconds=seconds,
        probes=len(probes),
        trip_p50_s=p50_s,
        trip_p95_s=p95_s,
        trip_p99_s=p99_s,
        trip_least_s=least_s,
        lost_up=1 - len(arrived) / len(probes) if probes else 1.0,
        lost_down=sum(it.down_s is None for it in arrived) / len(arrived) if arrived else 1.0,
        longest_run=max(runs, default=0),
        reordered=_reordered(arrived),
        clock_s=clock_s,
        single=single,
        doubled=doubled,
    )


def cap_mps(lease_s: float, blind_m: float) -> float:
    """Return the speed at which a car drives no further than this after its last claim."""
    return blind_m / lease_s


def metres(speed_mps: float, lease_s: float, decel_mps2: float) -> tuple[float, float]:
    """Return how far a car drives from the link's end to rest at most, and how far of it blind."""
    blind_m = speed_mps * (lease_s + _STEP_S)
    return blind_m + speed_mps**2 / (2 * decel_mps2), blind_m


def _quantile(values: Sequence[float], share: float) -> float | None:
    return values[min(int(share * len(values)), len(values) - 1)] if values else None


def _reordered(arrived: Sequence[Probe]) -> float:
    """Return the share of those that arrived after one that was sent later."""
    newest_s, late = 0.0, 0
    for it in sorted(arrived, key=lambda it: it.sent_s + (it.up_s or 0.0)):
        late += it.sent_s < newest_s
        newest_s = max(newest_s, it.sent_s)
    return late / len(arrived) if arrived else 0.0


def _claims(probes: Sequence[Probe], copies: int) -> list[tuple[float, float]]:
    """Return when claims arrived, and when each was made: a copy was made with its original."""
    found = []
    for place in range(0, len(probes) - 1, 2):
        made_s = probes[place].sent_s
        for it in probes[place : place + copies]:
            if it.up_s is not None:
                found.append((it.sent_s + it.up_s, made_s))
    return sorted(found)


def _rate(
    claims: Sequence[tuple[float, float]], lease_s: float, clock_s: float | None, seconds: float
) -> StopRate:
    if not claims or clock_s is None:
        return StopRate(lease_s, 1, _HOUR_S, 0.0, _HOUR_S)
    oldest_s = lease_s - clock_s
    stops, newest_s, is_stopped = 0, claims[0][1], False
    for arrived_s, made_s in claims:
        stops += not is_stopped and arrived_s - newest_s > oldest_s
        newest_s = max(newest_s, made_s)
        # What was held back comes all at once, too old as well: that is the same stop
        is_stopped = arrived_s - newest_s > oldest_s
    hours = seconds / _HOUR_S
    return StopRate(lease_s, stops, stops / hours, *(it / hours for it in bounds(stops)))


def bounds(count: int) -> tuple[float, float]:
    """Return between which numbers the mean of a count lies, by 95 % (of none: one-sided).

    Source: Garwood, Biometrika 28, 1936.
    """
    from scipy.stats import chi2  # type: ignore[import-untyped]  # 0.5 s to load

    if not count:
        return 0.0, float(chi2.ppf(_CONFIDENCE, 2) / 2)
    rest = (1 - _CONFIDENCE) / 2
    return float(chi2.ppf(rest, 2 * count) / 2), float(chi2.ppf(1 - rest, 2 * count + 2) / 2)
