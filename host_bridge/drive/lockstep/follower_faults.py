"""Cases of ``tandem faults`` in which the pose is at fault: a follower drives by it in lockstep.

The car drives along a straight path by the true pose, until the fault of its virtual localiser
(``pose_freezes``, ``pose_jumps``, ``pose_lags``) comes at a random moment. The follower's rule has
to stop it, within the time and the distance that the rule says, or let it go on.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import hypot
from random import Random
from typing import Any

import numpy as np

from host_bridge.core import State, Vehicle
from host_bridge.drive.drive import ARM_AGAIN
from host_bridge.drive.lockstep.car import LockstepCar, open_in_lockstep
from host_bridge.drive.lockstep.loop import LockstepDrive
from host_bridge.drive.options import DriveOptions
from host_bridge.inputs.paths.follower import follow
from host_bridge.inputs.paths.path import Path
from host_bridge.mapping.poses.tracker import JUMP_M, SLIP_SHARE, STALE_S, WINDOW_S
from host_bridge.mapping.poses.truth import PERIOD_US
from sim_mock.faults.bounds.limits import StopLimit, limit
from sim_mock.faults.running import CaseResult

_PATH_M = 200.0  # longer than any of these drives
_SPEED_MPS = 1.5  # a brisk walk; slower cars at nine tenths of their cap
_CAP_SHARE = 0.9  # chosen: below a cap, which a controller may pass by some per cent
_BEGINS_S, _DRAWN_S = 9.0, 1.0  # of the car's time: armed after 3 s, and at speed; then by chance
_GOES_ON_S = 3.0  # longer than any age or window of the rule
_AT_REST_MPS, _GIVE_UP_S = 0.02, 60.0  # a car that rolls in neutral stands long before
# A pose every 50 ms, the odometry of its time 20 ms later, two ticks of the host of 10 ms
_SEEN_S = PERIOD_US * 1e-6 + 0.04
_REPORTED_S = 0.05  # the car's own report of its state, at 50 Hz, and a tick
_ROUNDING = 1e-9
_IN_PROCESS = "in-process"


@dataclass(frozen=True)
class FollowerCase:
    """A fault of the pose, and how a follower must take it; fields as in the catalogue's cases."""

    id: str
    title: str
    fault: str  # as in a URI, without its time
    words: str  # of the reason of the stop; "" if it has to go on
    source: str = "a localiser"
    wait: str = "claim"

    @property
    def expects(self) -> str:
        return "stop request" if self.words else "drives on"

    def fits(self, vehicle: Vehicle) -> bool:
        """Return True: a follower drives any vehicle."""
        return True

    def reaction_s(self, speed_mps: float) -> float:
        """Return the longest time from the fault to the follower's stop, by the stated rule."""
        if self.id == "pose-lags":
            return STALE_S + _SEEN_S
        if self.id == "pose-freezes":
            return JUMP_M / speed_mps + SLIP_SHARE * WINDOW_S + _SEEN_S
        return _SEEN_S


_CASES = (
    FollowerCase("pose-freezes", "the last pose is said again, as new", "pose_freezes", "apart"),
    FollowerCase("pose-jumps", "it is 0.5 m to the left from then on",
                 "pose_jumps:left_m=0.5", "jumped"),
    FollowerCase("pose-turns", "it is turned by 20 degrees from then on",
                 "pose_jumps:left_m=0,turned_deg=20", "jumped"),
    FollowerCase("pose-lags", "poses are 800 ms late", "pose_lags:ms=800", "s old, at most"),
    FollowerCase("pose-lags-little", "poses are 200 ms late", "pose_lags:ms=200", ""),
)  # fmt: skip


def cases() -> tuple[FollowerCase, ...]:
    """Return the cases, in the order in which they are shown."""
    return _CASES


class _Loaded:
    """A vehicle that is loaded already."""

    def __init__(self, vehicle: Vehicle) -> None:
        self._vehicle = vehicle

    def load(self, name: str, changes: Mapping[str, Any] | None = None) -> Vehicle:
        return self._vehicle


def run(case_id: str, vehicle: Vehicle, seed: int, runtime: str = _IN_PROCESS) -> CaseResult:
    """Run one case. Raises LookupError for an unknown one, or a runtime other than this process."""
    if runtime != _IN_PROCESS:
        raise LookupError(f"{case_id} runs in this process only: leave out --runtime {runtime}")
    case = next((it for it in _CASES if it.id == case_id), None)
    if case is None:
        raise LookupError(f"no case {case_id}")
    at_s = _BEGINS_S + _DRAWN_S * Random(f"{case_id} {vehicle.name} {seed}").random()
    uri = f"sim://{vehicle.name}?seed={seed}&fault={case.fault}@{at_s}"
    car = open_in_lockstep(_Loaded(vehicle), uri)
    try:
        return _Run(case, car, at_s, seed).result()
    finally:
        car.close()


class _Run:
    """One drive: the fault, the stop, and what was measured on the way, tick by tick."""

    def __init__(self, case: FollowerCase, car: LockstepCar, at_s: float, seed: int) -> None:
        self.case, self.car, self.at_s, self.seed = case, car, at_s, seed
        caps = car.vehicle.profile_caps_mps[car.vehicle.profile], car.vehicle.speed_max_mps
        self.asked_mps = min(_SPEED_MPS, *(_CAP_SHARE * cap for cap in caps))
        path = Path(np.array([[0.0, 0.0], [_PATH_M, 0.0]]))
        chosen = follow(path, "pose=truth&far=3")
        options = DriveOptions(cars=(), input=chosen, speed_mps=self.asked_mps, is_lockstep=True)
        self.drive = LockstepDrive([car], chosen, options)
        self._why = ""
        self.speed_mps = self.fastest_mps = self.reaction_s = self.stop_s = self.distance_m = 0.0

    def result(self) -> CaseResult:
        try:
            while self.now_s < self.at_s and not self.drive.drive.is_over():
                self._tick()
            self.speed_mps = self.fastest_mps = self._true_mps()
            wrong = list(self._judged())
        finally:
            self.drive.close()
        most = self._limit() if self.case.words else None
        return CaseResult(
            case=self.case.id,
            vehicle=self.car.vehicle.name,
            seed=self.seed,
            speed_mps=round(self.speed_mps, 4),
            cause=self._notice(),
            reaction_s=round(self.reaction_s, 6),
            stop_s=round(self.stop_s, 6),
            distance_m=round(self.distance_m, 4),
            limit=most,
            wrong=tuple(wrong),
            asked_mps=round(self.asked_mps, 4),
            fastest_mps=round(self.fastest_mps, 4),
        )

    @property
    def now_s(self) -> float:
        return self.car.world.now_us * 1e-6

    def _judged(self) -> Iterator[str]:
        if self.drive.drive.is_over() or self.speed_mps < _CAP_SHARE * self.asked_mps:
            yield f"never began: {self.speed_mps:.2f} m/s; {self._notice()}"
            return
        if not self.case.words:
            yield from self._goes_on()
            return
        self._until_rest()
        most = self._limit()
        if self.case.words not in self._notice():
            yield f"says {self._notice()!r}, expected {self.case.words!r} in it"
        if self.reaction_s > most.reaction_s + _REPORTED_S:
            yield f"stopped after {self.reaction_s:.3f} s, limit {most.reaction_s:.3f} s"
        if self.stop_s > most.stop_s + _ROUNDING:
            yield f"stood after {self.stop_s:.3f} s, limit {most.stop_s:.3f} s"
        if self.distance_m > most.distance_m + _ROUNDING:
            yield f"took {self.distance_m:.3f} m, limit {most.distance_m:.3f} m"

    def _goes_on(self) -> Iterator[str]:
        until_s = self.now_s + _GOES_ON_S
        while self.now_s < until_s:
            self._tick()
        if self.drive.drive.is_over() or self._true_mps() < _CAP_SHARE * self.asked_mps:
            yield f"slowed to {self._true_mps():.2f} m/s: {self._notice()}"

    def _until_rest(self) -> None:
        begun_s, place = self.now_s, self._place()
        while self._true_mps() > _AT_REST_MPS or not self.reaction_s:
            if self.now_s - begun_s > _GIVE_UP_S:
                break
            if self.drive.drive.is_over():
                self.car.step()
            else:
                self._tick()
            here = self._place()
            self.distance_m += hypot(here[0] - place[0], here[1] - place[1])
            place, self.stop_s = here, self.now_s - begun_s
            self.fastest_mps = max(self.fastest_mps, self._true_mps())
            status = self.car.car.status
            if not self.reaction_s and status and status.state is not State.ACTIVE:
                self.reaction_s = self.stop_s

    def _limit(self) -> StopLimit:
        """Return the limits by the speed that it had; the follower's Stop brakes."""
        extra_ms = round(self.case.reaction_s(max(self.speed_mps, _AT_REST_MPS)) * 1000)
        return limit(self.car.vehicle, self.case.wait, extra_ms, True, self.fastest_mps)

    def _notice(self) -> str:
        return self._why or self.drive.drive.refusal or self.drive.drive.notice

    def _tick(self) -> None:
        self.drive.tick()
        if not self._why and self.drive.drive.notice.endswith(f"{ARM_AGAIN}."):
            self._why = self.drive.drive.notice

    def _true_mps(self) -> float:
        truth = self.car.world.plant.truth
        return hypot(truth.vx_mps, truth.vy_mps)

    def _place(self) -> tuple[float, float]:
        truth = self.car.world.plant.truth
        return truth.x_m, truth.y_m
