"""The fingerprint of a drive and its true figures, taken once a tick."""

from __future__ import annotations

import hashlib
import struct
from math import hypot

from host_bridge.core import State
from host_bridge.core.laps import Laps
from host_bridge.drive.lockstep.car import LockstepCar
from sim_mock.faults.bounds.promises import accepted_of, state_of

_TRUTH = struct.Struct("<5d")
_STANDS_MPS, _STANDS_TICKS = 0.05, 10  # at rest: slower than that for 0.1 s
_HALTED = (State.STOPPING, State.STOPPED, State.FAULT, State.STARTING)
_ARMED = (State.ACTIVE, State.HOLD)


class Trace:
    """The record of one car on its way; call ``tick`` after each tick."""

    def __init__(self, car: LockstepCar) -> None:
        self._car = car
        self._hash, self._bytes = hashlib.sha256(), hashlib.sha256()
        truth = car.world.plant.truth
        self._x_m, self._y_m = truth.x_m, truth.y_m
        self._laps = Laps(truth.x_m, truth.y_m, truth.yaw_rad, car.vehicle.wheelbase_m)
        self.distance_m = self.top_mps = 0.0
        self.stop_m: float | None = None  # of the first stop, from its program's to standstill
        self.stop_s: float | None = None
        self.claim_to_rest_m: float | None = None  # of that stop, from the last claim before it
        self._accepted, self._claimed_m = 0, 0.0  # claims until now, and metres at the last one
        self.stops = 0  # by the car itself, whether the host heard of it or not
        self._state = state_of(car.world)
        self._stopping_from: tuple[float, int] | None = None  # metres and time at that moment
        self._slow_ticks = 0
        car.observe_bytes = self._heard

    def tick(self) -> None:
        """Take the truth of this moment."""
        truth, now_us = self._car.world.plant.truth, self._car.clock.now_us()
        self._hash.update(
            _TRUTH.pack(truth.x_m, truth.y_m, truth.yaw_rad, truth.vx_mps, truth.vy_mps)
        )
        self.distance_m += hypot(truth.x_m - self._x_m, truth.y_m - self._y_m)
        speed_mps = hypot(truth.vx_mps, truth.vy_mps)
        self.top_mps = max(self.top_mps, speed_mps)
        self._x_m, self._y_m = truth.x_m, truth.y_m
        self._laps.step(truth.x_m, truth.y_m, now_us)
        self._watch_stop(speed_mps, now_us)

    @property
    def stands(self) -> bool:
        """True once the car has been at rest, in truth, for 0.1 s."""
        return self._slow_ticks >= _STANDS_TICKS

    def _watch_stop(self, speed_mps: float, now_us: int) -> None:
        before, self._state = self._state, state_of(self._car.world)
        self.stops += before in _ARMED and self._state in _HALTED
        self._slow_ticks = self._slow_ticks + 1 if speed_mps < _STANDS_MPS else 0
        if self._stopping_from is None:
            before, self._accepted = self._accepted, accepted_of(self._car.world)
            if self._accepted != before:
                self._claimed_m = self.distance_m
            if self._state in _HALTED and speed_mps >= _STANDS_MPS:
                self._stopping_from = self.distance_m, now_us
            return
        if self.stands and self.stop_m is None:
            begun_m, begun_us = self._stopping_from
            self.stop_m = self.distance_m - begun_m
            self.stop_s = (now_us - begun_us) * 1e-6
            self.claim_to_rest_m = self.distance_m - self._claimed_m

    @property
    def laps(self) -> Laps:
        """Its laps over the line at its start."""
        return self._laps

    @property
    def digest(self) -> str:
        """The SHA-256 over all bytes both ways and the true motion at each tick."""
        return self._hash.hexdigest()

    @property
    def bytes_digest(self) -> str:
        """The same of the bytes alone: what any drive of this car says and hears."""
        return self._bytes.hexdigest()

    def _heard(self, data: bytes) -> None:
        self._hash.update(data)
        self._bytes.update(data)
