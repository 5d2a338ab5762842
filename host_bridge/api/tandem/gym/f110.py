"""A wrapper with f1tenth_gym's names, for programs that were written for it.

    from tandem.gym.f110 import F110Env

    env = F110Env(map="corridor", num_agents=1)
    obs, reward, done, info = env.reset(np.array([[0.0, 0.0, 0.0]]))

Behind the names are cars with their programs: they are armed, they accelerate as their batteries
allow, and they stop where a promise asks for it. README.md has what differs.
"""

from __future__ import annotations

import itertools
from math import degrees
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from host_bridge.core.errors import UsageFault
from sim_mock.tracks.loading import track_names
from tandem.arguments import number, whole
from tandem.gym.episode import Place, Seat
from tandem.gym.settings import checked

_TIMESTEP_S = 0.01  # theirs by default, and a tick of ours
_BEAMS = 1080  # theirs
_LAPS = 2  # theirs: the episode is over after as many
_MOST_CARS = 8  # chosen: more have no room on the tracks that are here
_FOREVER_S = 3600.0  # theirs has no limit
_scenes = itertools.count(1)
_CHANGES = {  # what params may say, and its key in a vehicle file
    "mu": "plant.tyre.mu",
    "m": "plant.body.mass_kg",
    "I": "plant.body.inertia_z_kgm2",
}

Floats = NDArray[np.float64]
Observation = dict[str, Any]
Step = tuple[Observation, float, bool, dict[str, Any]]


class F110Env:
    """Cars on a track or map, by f1tenth_gym's interface: dictionaries, and four results."""

    def __init__(
        self,
        map: str = "corridor",  # noqa: A002 - their name
        map_ext: str = ".png",
        num_agents: int = 2,
        timestep: float = _TIMESTEP_S,
        ego_idx: int = 0,
        seed: int = 12345,  # theirs
        params: dict[str, float] | None = None,
        vehicle: str = "f1tenth",
    ) -> None:
        """``map``: a track's name, or a ROS map's path without its ending.

        Raises errors.TandemError for what cannot be.
        """
        if timestep != _TIMESTEP_S:
            raise UsageFault("timestep", expected=f"{_TIMESTEP_S:g} s", got=f"{timestep!r}")
        is_track = map in track_names()
        file = "" if is_track else str(Path(map).with_suffix(".yaml"))
        self.num_agents = whole("num_agents", num_agents, 1, _MOST_CARS)
        self.ego_idx = whole("ego_idx", ego_idx, 0, self.num_agents - 1)
        self.timestep = timestep
        self._seed = whole("seed", seed, 0, 2**32 - 1)
        self._changes = _changes(params or {})
        self._place = Place(
            checked(
                vehicle,
                map if is_track else "",
                file,
                timestep,
                _BEAMS,
                "truth",
                "progress",
                0,
                _FOREVER_S,
                False,
                "",
            ),
            has_line=False,
        )
        self._seats: list[Seat] = []

    def reset(self, poses: Floats) -> Step:
        """Put the cars at rows of x (m), y (m), yaw (rad), and take a first step without moving."""
        poses = np.asarray(poses, dtype=float)
        if poses.shape != (self.num_agents, 3):
            raise UsageFault(
                "poses", expected=f"{self.num_agents} rows of x, y, yaw", got=str(poses.shape)
            )
        self.close()
        scene = {"scene": f"f110-{next(_scenes)}"} if self.num_agents > 1 else {}
        for i, (x_m, y_m, yaw_rad) in enumerate(poses.tolist()):
            words = {
                "start": f"{x_m!r},{y_m!r},{degrees(yaw_rad)!r}",
                "name": f"car_{i}",
                **scene,
            }
            self._seats.append(self._place.seat(self._seed + i, words, self._changes))
        ready = [False]
        while not all(ready):
            ready = [seat.racer.prepare() for seat in self._seats]
        for seat in self._seats:
            seat.begin()
        return self.step(np.zeros((self.num_agents, 2)))

    def step(self, action: Floats) -> Step:
        """Drive all cars for 10 ms by rows of steering (rad) and speed (m/s)."""
        if not self._seats:
            raise UsageFault("there is no car yet", remedy="env.reset(poses) first")
        for seat, row in zip(self._seats, np.asarray(action, dtype=np.float32), strict=True):
            seat.act(row)
        for seat in self._seats:
            seat.racer.tick()
        for seat in self._seats:
            seat.look()
        moments = [seat.moment for seat in self._seats]
        done = bool(moments[self.ego_idx].hits) or all(it.laps >= _LAPS for it in moments)
        reached = np.array([it.laps >= _LAPS for it in moments])
        return self._observation(), self.timestep, done, {"checkpoint_done": reached}

    def close(self) -> None:
        """End the cars' programs."""
        for seat in self._seats:
            seat.racer.close()
        self._seats = []

    def render(self, mode: str = "human") -> None:
        """Refuse: there is no window. Raises errors.UsageFault."""
        raise UsageFault(
            "this environment opens no window",
            remedy='gymnasium.make("tandem/Race-v0", render_mode="rgb_array") draws pictures',
        )

    def _observation(self) -> Observation:
        truths = [seat.racer.truth() for seat in self._seats]
        moments = [seat.moment for seat in self._seats]
        return {
            "ego_idx": self.ego_idx,
            "scans": [seat.racer.scan(_BEAMS, self._place.most_m) for seat in self._seats],
            "poses_x": [it.x_m for it in truths],
            "poses_y": [it.y_m for it in truths],
            "poses_theta": [it.yaw_rad for it in truths],
            "linear_vels_x": [it.vx_mps for it in truths],
            "linear_vels_y": [it.vy_mps for it in truths],
            "ang_vels_z": [it.yaw_rate_radps for it in truths],
            "collisions": np.array([float(it.hits > 0) for it in moments]),
            "lap_times": np.array([it.lap_time_s for it in moments]),
            "lap_counts": np.array([float(it.laps) for it in moments]),
        }


def _changes(params: dict[str, float]) -> dict[str, float]:
    for name in params:
        if name not in _CHANGES:
            raise UsageFault(
                "params: this car's are in its vehicle file",
                expected=", ".join(_CHANGES),
                got=name,
                remedy="vehicle='./my_car.toml' with the values of your car: tandem vehicles",
            )
    return {_CHANGES[name]: number(name, value, 0.0) for name, value in params.items()}
