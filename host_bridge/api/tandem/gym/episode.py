"""The rules of an episode: what one agent sees, does and gets, and when it is over."""

from __future__ import annotations

from dataclasses import replace
from math import degrees, isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

from host_bridge.core.errors import UsageFault
from host_bridge.sharing.services import make_host
from tandem.gym.racer import Moment, Observation, Racer, centre_line
from tandem.gym.settings import (
    Settings,
    action_space,
    normalized_space,
    observation_space,
    refuse_late,
)

Action = NDArray[np.float32]
Result = tuple[Observation, float, bool, bool, dict[str, Any]]


class Place:
    """A place to drive episodes, and the spaces of whoever drives there."""

    def __init__(self, settings: Settings, *, has_line: bool = True) -> None:
        """Read vehicle and track; without ``has_line`` nobody asks for progress along it.

        Raises errors.TandemError.
        """
        self.settings = settings
        self._files = make_host().vehicles
        self._line = centre_line(settings.track, settings.map) if has_line else None
        known = self._files.load(settings.vehicle)
        refuse_late(settings, known)
        lidar = known.plant.get("lidar")
        if settings.rays and not isinstance(lidar, dict):
            raise UsageFault(
                "it has no LIDAR", where=settings.vehicle, remedy="rays=0 observes without one"
            )
        self.most_m = float(lidar["range_max_m"]) if isinstance(lidar, dict) else 0.0
        self.limits = action_space(known)
        self.action_space = normalized_space() if settings.is_normalized else self.limits
        # The ends of an action, as plain floats: faster than NumPy for two of them
        self.ends = self.action_space.low.tolist(), self.action_space.high.tolist()
        self.observation_space = observation_space(known, settings.rays, self.most_m)

    def seat(self, seed: int, query: dict[str, str], changes: dict[str, Any]) -> Seat:
        """Return the seat in a new car; ``query`` is of its URI. Raises errors.TandemError."""
        settings = self.settings
        place = {"track": settings.track} if settings.track else {"map": settings.map}
        faults = {"fault": settings.faults} if settings.faults else {}
        words = {"seed": str(seed % 2**32), **place, **faults, **query}
        return Seat(self, Racer(self._files, settings.vehicle, words, changes, self._line))

    def start_of(self, number: int, apart_m: float, first: str | None) -> str:
        """Return the start of a car of several: so far behind the first, along the centre line."""
        if not number:
            return first or "0,0,0"
        assert self._line is not None, "who starts on the centre line has it"
        x_m, y_m, _ = map(float, first.split(",")) if first else (0.0, 0.0, 0.0)
        along_m = self._line.project(x_m, y_m).along_m - number * apart_m
        x_m, y_m = self._line.at(along_m)
        return f"{x_m!r},{y_m!r},{degrees(self._line.yaw_at(along_m))!r}"

    def taken(self, seat: Seat | None) -> Seat:
        """Return the seat. Raises errors.UsageFault before the first ``reset``."""
        if seat is None:
            raise UsageFault("there is no car yet", remedy="env.reset(seed=1) first")
        return seat


class Seat:
    """One agent in its car, for one episode."""

    def __init__(self, place: Place, racer: Racer) -> None:
        self._place = place
        self.racer = racer
        self.moment = racer.moment()

    def begin(self) -> None:
        """Begin the episode, once the car may drive."""
        self.racer.begin()
        self.look()

    def look(self) -> None:
        """Take note of this moment."""
        self.moment = self.racer.moment()

    def act(self, action: Action) -> None:
        """Take an action for the ticks that follow. Raises errors.UsageFault if it is none."""
        space = self._place.action_space
        wanted = np.asarray(action, dtype=np.float32)
        values: list[float] = wanted.ravel().tolist()
        if wanted.shape != space.shape or not all(map(isfinite, values)):
            raise UsageFault(
                "an action is finite: steering in rad and speed in m/s", got=repr(action)
            )
        ends = self._place.ends
        steer_rad, speed_mps = (
            min(max(it, low), high) for it, low, high in zip(values, *ends, strict=True)
        )
        if self._place.settings.is_normalized:
            limits = self._place.limits
            wanted = np.array((steer_rad, speed_mps), dtype=np.float32)
            wanted = limits.low + np.float32(0.5) * (wanted + 1) * (limits.high - limits.low)
            steer_rad, speed_mps = wanted.tolist()
        self.racer.act(steer_rad, speed_mps)

    def result(self) -> Result:
        """Return what ``step`` returns: of the time since it was asked before."""
        before, settings = self.moment, self._place.settings
        after = self.moment = self.racer.moment()
        is_hit = settings.ends_on_hit and after.hits > 0
        is_done = 0 < settings.laps <= after.laps
        is_terminated = is_hit or is_done or after.is_off or self.racer.has_stopped
        is_truncated = after.t_s >= settings.seconds - 1e-6  # s: the rounding of floats
        reward = float(settings.reward(before, after))
        return self.observation(), reward, is_terminated, is_truncated, self.info()

    def observation(self) -> Observation:
        """Return what the agent sees, within the bounds of its space."""
        settings, moment = self._place.settings, self.moment
        found = self.racer.observation(moment, is_true_pose=settings.is_true_pose)
        if settings.rays:
            found["scan"] = self.racer.scan(settings.rays, self._place.most_m)
        for name, space in self._place.observation_space.items():
            found[name] = np.clip(found[name], space.low, space.high)  # type: ignore[attr-defined]
        return found

    def info(self) -> dict[str, Any]:
        """Return the truth, and why the car stopped."""
        it: Moment = replace(self.moment, t_s=round(self.moment.t_s, 6))
        return {
            "t_s": it.t_s,
            "x_m": it.x_m,
            "y_m": it.y_m,
            "yaw_rad": it.yaw_rad,
            "v_mps": it.speed_mps,
            "progress_m": it.progress_m,
            "lateral_m": it.lateral_m,
            "hits": it.hits,
            "is_off": it.is_off,
            "laps": it.laps,
            "lap_last_s": it.last_lap_s or None,
            "lap_best_s": it.best_lap_s or None,
            "why_stopped": self.racer.why_stopped,
        }
