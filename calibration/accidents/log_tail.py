"""Reader of a log's last stop: claims with their arrivals, the car's motion, and what stopped it.

All times are in us of the recording host's clock, which is the session's.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from calibration.arrays import Floats
from calibration.logs.trace_tandem import logged_cars
from host_bridge.core import Vehicle
from host_bridge.core.board_time import TIME_MASK, unwrapped_us
from host_bridge.core.commands import Claim
from host_bridge.core.errors import DataFileFault
from host_bridge.core.reports import CarEvent, CarMotion, CarStatus, ClockReport, Inputs, Outputs
from host_bridge.logs.reading import cars_in, facts, read
from host_bridge.logs.rows import from_row

_KINDS: dict[str, type[Any]] = {
    "claim": Claim,
    "status": CarStatus,
    "motion": CarMotion,
    "event": CarEvent,
    "clock_report": ClockReport,
    "outputs": Outputs,
    "inputs": Inputs,
}
_CLOCKS_US = 100_000  # chosen: the clocks of host and car, as a log has them, differ by less
COUNT_SIZE = 1 << 16  # where sequence numbers and the count of claims wrap (firmware/protocol)
MEAN_US = 400_000  # of a speed: a count or a magnet more or less is 1 % of it at most
WAY_BACK_US = 20_000_000  # chosen: no car takes longer from a standstill to its stop and to rest


@dataclass(frozen=True)
class SentClaim:
    """One claim: when it was sent, and the step that took it; None if it was lost or refused.

    The claim's stamp is the time of sending, no longer modulo 2**30 us as on the line.
    """

    claim: Claim
    sent_us: int
    arrived_us: int | None


@dataclass(frozen=True)
class MotionTrack:
    """The car's motion as its program reports it, (n,) each: m, rad, m/s^2."""

    t_us: Floats
    x_m: Floats
    y_m: Floats
    yaw_rad: Floats
    accel_x_mps2: Floats

    def at(self, t_us: Floats | float, name: str) -> Floats:
        """Return the series of this name at these times, interpolated."""
        return np.asarray(np.interp(t_us, self.t_us, getattr(self, name)))

    def speed_mps(self, t_us: float) -> float:
        """Return the mean speed of the time before, by the way that the car reckoned."""
        x, y = (np.diff(self.at(np.array((t_us - MEAN_US, t_us)), it)) for it in ("x_m", "y_m"))
        return float(np.hypot(x, y)[0]) / (MEAN_US * 1e-6)


@dataclass(frozen=True)
class LogTail:
    """One car's log around its last stop; ``statuses`` are at their own times of the host."""

    car: str
    vehicle: Vehicle
    uri: str
    claims: tuple[SentClaim, ...]
    status_us: tuple[int, ...]
    statuses: tuple[CarStatus, ...]
    motion: MotionTrack
    events: tuple[tuple[int, CarEvent], ...]
    bound_us: int  # by which its program shortens leases, as it is not surer of the host's clock
    cap_mps: float | None  # the lowest speed cap in force, as it was reported last before the rest
    inputs: Inputs | None
    began_us: int  # of the whole log
    rested_us: int

    def status_at(self, t_us: float) -> CarStatus:
        """Return the status that was the newest at this time, or the first."""
        return self.statuses[max(bisect_right(self.status_us, t_us) - 1, 0)]


def read_log_tail(
    log: Path, wanted: str, load: Callable[[str], Vehicle], at_s: float | None = None
) -> LogTail:
    """Read the last stop of a log's car, or the first one that ends after ``at_s`` in it.

    Raises errors.DataFileFault for a file that is no log or has no such stop, VehicleFileFault.
    """
    types = logged_cars(log)
    car = wanted or (next(iter(types)) if len(types) == 1 else "")
    if car not in types:
        what = f"no car {wanted} in this log" if wanted else "which car? this log has several"
        raise DataFileFault(
            what, where=str(log), expected=" or ".join(sorted(types)) or "a car",
            got=wanted or "none", remedy="--car NAME",
        )  # fmt: skip
    vehicle = load(types[car])
    found = _Collected(log, car)
    rested_us = found.rest_us(vehicle, at_s)
    return found.tail(vehicle, cars_in(facts(log))[car].get("uri", ""), rested_us)


class _Collected:
    """All rows of one car that an explanation needs."""

    def __init__(self, log: Path, car: str) -> None:
        self._log, self._car = log, car
        self.rows: dict[str, list[tuple[int, Any]]] = {topic: [] for topic in _KINDS}
        self._began_us: int | None = None
        for it in read(log):
            self._began_us = it.time_us if self._began_us is None else self._began_us
            if it.car == car and it.topic in _KINDS and isinstance(it.value, Mapping):
                self.rows[it.topic].append((it.time_us, it.value))
        if not self.rows["status"] or not self.rows["motion"]:
            raise self._fault("this log says nothing of the car's motion", "a driven car")
        self._offset_us, self._bound_us = self._clock()

    def rest_us(self, vehicle: Vehicle, at_s: float | None) -> int:
        """Return when the car came to rest for the last time, or at the first time after at_s."""
        after_us = (self._began_us or 0) + round((at_s or 0.0) * 1e6)
        slow_mps = vehicle.parameters["standstill_mm_s"][0] * 1e-3
        rests, was_moving = [], False
        for heard_us, row in self.rows["status"]:
            is_moving = abs(row["speed_mps"]) > slow_mps
            if was_moving and not is_moving:
                rests.append(self._host_us(row["time_us"], heard_us))
            was_moving = is_moving
        rests = [it for it in rests if it >= after_us]
        if not rests:
            got = "it drives until the log's end" if was_moving else "it never came to rest"
            raise self._fault("no stop in this log to explain", "a car that drove and stopped", got)
        return rests[-1] if at_s is None else rests[0]

    def tail(self, vehicle: Vehicle, uri: str, rested_us: int) -> LogTail:
        """Return what there is from WAY_BACK_US before the rest, and of a second after it."""
        self._cut(rested_us - WAY_BACK_US, rested_us + 1_000_000)
        # No claim is taken before it is sent: the board's estimate of the clock is off by that
        early = (it.sent_us - it.arrived_us for it in self._claims() if it.arrived_us is not None)
        self._offset_us = (self._offset_us + max((0, *early))) & TIME_MASK
        statuses = self._timed("status", "time_us")
        before = [row for heard_us, row in self._timed("outputs") if heard_us <= rested_us]
        inputs = [row for _, row in self._timed("inputs")]
        return LogTail(
            car=self._car,
            vehicle=vehicle,
            uri=uri,
            claims=tuple(self._claims()),
            status_us=tuple(t_us for t_us, _ in statuses),
            statuses=tuple(row for _, row in statuses),
            motion=self._motion(),
            events=tuple(self._timed("event", "time_us")),
            bound_us=self._bound_us,
            cap_mps=before[-1].cap_mps if before else None,
            inputs=inputs[-1] if inputs else None,
            began_us=self._began_us or 0,
            rested_us=rested_us,
        )

    def _cut(self, begin_us: int, end_us: int) -> None:
        for topic, rows in self.rows.items():
            self.rows[topic] = [it for it in rows if begin_us <= it[0] <= end_us]

    def _timed(self, topic: str, time_key: str = "") -> list[tuple[int, Any]]:
        """Return the reports of a topic with the times of the car's own clock, or of hearing."""
        found = []
        for heard_us, row in self.rows[topic]:
            t_us = self._time_of(row, time_key, heard_us)
            found.append((t_us, from_row(_KINDS[topic], row)))
        return sorted(found, key=lambda it: it[0])

    def _time_of(self, row: Mapping[str, Any], key: str, heard_us: int) -> int:
        if key == "stamp_us":  # the host's own clock already
            return unwrapped_us(row[key] & TIME_MASK, heard_us)
        return self._host_us(row[key], heard_us) if key else heard_us

    def _host_us(self, board_us: int, near_us: int) -> int:
        return unwrapped_us((board_us + self._offset_us) & TIME_MASK, near_us)

    def _clock(self) -> tuple[int, int]:
        """Return the host's time less the board's, modulo 2**30, and how unsure the board is of it.

        The board's estimates are of several sessions; ours is the one that the earliest of all
        reports agrees with.
        """
        heard = [(t_us - row["time_us"]) & TIME_MASK for t_us, row in self.rows["status"]]
        base = heard[0]
        earliest = base + min(unwrapped_us(it, base) - base for it in heard)
        offsets = [
            (unwrapped_us(row["offset_us"] & TIME_MASK, earliest), row["bound_us"])
            for _, row in self.rows["clock_report"]
            if row.get("bound_us") is not None
        ]
        # a report takes less than this from the car to the log, or no claim is driven by
        near = [it for it in offsets if abs(it[0] - earliest) < 1_000_000]
        if not near:
            return earliest, 0
        return round(median(it[0] for it in near)), round(median(it[1] for it in near))

    def _claims(self) -> list[SentClaim]:
        """Return all claims with the steps that took them, by the count and the number last taken.

        Of several that one step took, the last ones sent did arrive.
        """
        sent, statuses = self._timed("claim", "stamp_us"), self._timed("status", "time_us")
        arrived: dict[int, int] = {}
        at, count = 0, None
        for status_us, status in statuses:
            taken = 0 if count is None else (status.claim_count - count) % COUNT_SIZE
            count = status.claim_count
            if not taken or status.applied_us is None:
                continue
            end = at
            for i in range(at, len(sent)):
                if sent[i][0] > status_us + _CLOCKS_US:
                    break
                if sent[i][1].sequence == status.claim_sequence:
                    end = i + 1
            applied_us = self._host_us(status.applied_us, status_us)
            arrived.update((i, applied_us) for i in range(max(end - taken, at), end))
            at = max(end, at)
        return [
            SentClaim(replace(row, stamp_us=t_us), t_us, arrived.get(i))
            for i, (t_us, row) in enumerate(sent)
        ]

    def _motion(self) -> MotionTrack:
        rows = self._timed("motion", "captured_us")
        table = np.array(
            [(t, r.x_m, r.y_m, r.yaw_rad, r.accel_x_mps2) for t, r in rows], dtype=np.float64
        ).reshape(-1, 5)  # five columns, also without rows
        return MotionTrack(*table.T)

    def _fault(self, what: str, expected: str, got: str = "") -> DataFileFault:
        return DataFileFault(
            what,
            where=f"{self._log}:{self._car}",
            expected=expected,
            got=got,
            remedy=f"tandem log {self._log} shows what is in it",
        )
