"""The moments of a stop: what began it, when its driver wanted it, where a re-run may begin."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from statistics import median

import numpy as np

from calibration.accidents.log_tail import LogTail, SentClaim
from host_bridge.core.codes import Cause, EventCode, State
from host_bridge.core.errors import DataFileFault

# A driver who sends nothing for so many of its periods is silent, and no longer late by a hiccup
_SILENT_PERIODS = 4
_MOVES_MPS = 0.05  # a wish below it is one to stand
# Chosen: a re-run begins so long before the trigger that no delay of a claim reaches back to it,
# and not so long that its pose drifts
_BEFORE_US, _LONGEST_US = 400_000, 2_500_000
_CALM_US = 600_000  # the time for which target and steering have to be steady before a beginning
_CALM_MPS, _CALM_RAD = 0.02, 0.01  # the spread that still counts as steady
_PARTS_US = 300_000  # re-runs without a cause differ from the log so long before the trigger
_RUNS = (State.ACTIVE, State.HOLD)


@dataclass(frozen=True)
class StopTrigger:
    """The moment from which metres count, in us of the host; ``period_us`` is of its claims.

    ``released_us``: when the driver let go or asked to stand; None if it fell silent or if a stop
    came first. ``silent_us``: the last claim before its silence.
    """

    source_id: int
    t_us: int
    period_us: int
    released_us: int | None
    silent_us: int | None
    latched_us: int | None
    cause: Cause | None
    begin_us: int
    begins_at_rest: bool

    @property
    def parts_us(self) -> int:
        """The time up to which all re-runs are the same."""
        return self.t_us - _PARTS_US


def find_trigger(tail: LogTail, seen_us: int | None) -> StopTrigger:
    """Return the moments of the stop; ``seen_us``: when there was a reason to stop, if known.

    Raises errors.DataFileFault where nobody drove by claims.
    """
    source = _driving_source(tail)
    sent = [it for it in tail.claims if it.claim.source_id == source]
    wished = [it for it in sent if _moves(it) and it.sent_us <= tail.rested_us]
    if len(wished) < _SILENT_PERIODS:
        raise DataFileFault(
            "nobody drove this car by claims before it stopped",
            where=tail.car,
            expected="the claims of a driver on this side of the line",
            remedy="the program that drives has to record the log: tandem drive --record",
        )
    period_us = round(median(b.sent_us - a.sent_us for a, b in pairwise(wished)))
    last_us = wished[-1].sent_us
    after = [it for it in sent if it.sent_us > last_us]
    is_silent = not after or after[0].sent_us - last_us > _SILENT_PERIODS * period_us
    latched = _latched(tail, wished[0].sent_us)
    moments = {
        "released_us": None if is_silent else after[0].sent_us,
        "silent_us": last_us if is_silent else None,
        "latched_us": latched[0] if latched else None,
    }
    if latched and latched[0] < last_us:  # the driver had not stopped wishing yet
        moments |= {"released_us": None, "silent_us": None}
    known = [it for it in (*moments.values(), seen_us) if it is not None]
    begin_us, at_rest = _beginning(tail, min(known))
    return StopTrigger(
        source_id=source, t_us=min(known), period_us=period_us, **moments,
        cause=latched[1] if latched else None, begin_us=begin_us, begins_at_rest=at_rest,
    )  # fmt: skip


def _moves(sent: SentClaim) -> bool:
    return sent.claim.is_held and abs(sent.claim.speed_mps) > _MOVES_MPS


def _driving_source(tail: LogTail) -> int:
    """Return the source that had the drive last; 0xFF, of nobody, if none had."""
    for t_us, status in zip(reversed(tail.status_us), reversed(tail.statuses), strict=True):
        if t_us <= tail.rested_us and status.drive_source is not None:
            return status.drive_source
    return -1


def _latched(tail: LogTail, since_us: int) -> tuple[int, Cause] | None:
    """Return the first stop that was latched between the drive and its end, and its cause."""
    for t_us, event in tail.events:
        if event.code is EventCode.STOP_LATCHED and since_us <= t_us <= tail.rested_us:
            return t_us, Cause(event.a)
    return None


def _beginning(tail: LogTail, trigger_us: int) -> tuple[int, bool]:
    """Return where a re-run begins, and whether the car stands there.

    That is the newest calm moment shortly before the trigger, or else its last standstill.
    """
    target = np.array([it.target_mps for it in tail.statuses])
    speed = np.array([it.speed_mps for it in tail.statuses])
    steer = np.array([it.steer_rad for it in tail.statuses])
    times = np.array(tail.status_us)
    last_us = trigger_us - _BEFORE_US
    for i in range(len(times) - 1, -1, -1):
        if not trigger_us - _LONGEST_US <= times[i] <= last_us:
            continue
        span = slice(int(np.searchsorted(times, times[i] - _CALM_US)), i + 1)
        is_calm = np.ptp(target[span]) <= _CALM_MPS and np.ptp(steer[span]) <= _CALM_RAD
        follows = abs(target[i] - speed[i]) <= 3 * _CALM_MPS  # the speed is that of the target
        if is_calm and follows and target[i] and tail.statuses[i].state is State.ACTIVE:
            return int(times[i]), False
    for i in range(len(times) - 1, -1, -1):
        if times[i] <= last_us and speed[i] == 0.0 and tail.statuses[i].state in _RUNS:
            return int(times[i]), True
    raise DataFileFault(
        "no moment from which this stop can be run again",
        where=tail.car,
        expected="a standstill, armed, or half a second of steady driving, in the 20 s before it",
        remedy="record the whole drive",
    )
