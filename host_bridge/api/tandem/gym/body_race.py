"""``tandem/BodyRace-v0``: many bare bodies on one track at once, in NumPy, to train in quickly.

What is learnt here is tried with the car's program in ``tandem/Race-v0``, which has the same
actions, the same rewards, and with ``rays=0`` the same observations.
"""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from host_bridge.core.errors import UsageFault
from host_bridge.sharing.services import make_host
from tandem.arguments import number, whole
from tandem.gym.bodies import Bodies
from tandem.gym.floor import Floor
from tandem.gym.racer import Moment
from tandem.gym.rewards import Reward
from tandem.gym.settings import action_space, checked, observation_space

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
Observations = dict[str, NDArray[np.float32]]

_BODIES_MOST = 1_000_000  # chosen: 500 MB
_TURN = 2.0 * np.pi


class BodyRaceEnv(VectorEnv[Any, Any, Any]):
    """Races of bodies against the clock, which do not see each other; README.md has the rest.

    The body of an episode that is over begins anew at the next step, whose action it ignores.
    """

    metadata = {"autoreset_mode": AutoresetMode.NEXT_STEP}  # noqa: RUF012 - Gymnasium's own

    def __init__(
        self,
        num_envs: int = 1,
        vehicle: str = "f1tenth",
        track: str = "",
        map: str = "",  # noqa: A002 - said as in a car's URI
        period_s: float = 0.05,  # chosen: as of tandem/Race-v0
        reward: str | Reward = "progress",
        laps: int = 0,
        seconds: float = 60.0,  # chosen: as of tandem/Race-v0
    ) -> None:
        """Check the options, and fill the fields of the floor. Raises errors.TandemError."""
        self.num_envs = whole("num_envs", num_envs, 1, _BODIES_MOST)
        self._settings = checked(
            vehicle, track, map, period_s, 0, "truth", reward, laps, seconds, True, ""
        )
        known = make_host().vehicles.load(vehicle)
        self.single_action_space = action_space(known)
        self.single_observation_space = observation_space(known, 0, 0.0)
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self._steer_max_rad = known.steer_max_rad
        self._bodies = Bodies(known, self.num_envs)
        self._floor = Floor(self._settings.track, self._settings.map)
        self._start: Floats | None = None
        self._is_begun = False

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observations, dict[str, Any]]:
        """Begin all episodes: each at its own place on the centre line, drawn by the seed.

        ``options={"start": (x_m, y_m, yaw_deg)}`` puts all of them there, now and later. Raises
        errors.UsageFault for another option.
        """
        super().reset(seed=seed)
        given = dict(options or {})
        start = given.pop("start", None)
        if given:
            raise UsageFault("reset() has no such option", expected="start", got=", ".join(given))
        if start is not None:
            x_m, y_m, yaw_deg = (number("start", it) for it in start)
            start = np.array((x_m, y_m, np.radians(yaw_deg)))
        self._start, self._is_begun = start, True
        self._over = np.zeros(self.num_envs, bool)
        self._t_s, self._made_m, self._along_m = np.zeros((3, self.num_envs))
        self._laps, self._lap_began_s, self._last_s, self._best_s = np.zeros((4, self.num_envs))
        self._begin(np.ones(self.num_envs, bool))
        self._moment = self._now(np.zeros(self.num_envs, bool))
        return self._observed(), self._info()

    def step(self, actions: Any) -> tuple[Observations, Floats, Flags, Flags, dict[str, Any]]:
        """Drive all for one period. Raises errors.UsageFault before the first ``reset``."""
        if not self._is_begun:
            raise UsageFault("there are no bodies yet", remedy="env.reset(seed=1) first")
        steer_rad, speed_mps = self._checked(actions).T
        anew, before = self._over, self._moment
        hits = np.zeros(self.num_envs, bool)
        for _ in range(self._settings.ticks):
            self._bodies.tick(steer_rad, speed_mps)
            clear_m = self._floor.walls_m(*self._bodies.discs())
            hits |= clear_m.min(axis=0) < self._bodies.half_width_m
        self._t_s = self._t_s + self._settings.ticks * 1e-2
        if anew.any():
            self._begin(anew)
            hits &= ~anew
        after = self._moment = self._now(hits)
        settings = self._settings
        rewards = np.where(anew, 0.0, settings.reward(before, after))
        terminated = hits | (0 < settings.laps <= self._laps if settings.laps else False)
        truncated = self._t_s >= settings.seconds - 1e-6  # s: the rounding of floats
        self._over = terminated | truncated
        return self._observed(), rewards, terminated, truncated, self._info()

    def _checked(self, actions: Any) -> Floats:
        space = self.single_action_space
        assert isinstance(space, gymnasium.spaces.Box)
        wanted = np.asarray(actions, dtype=np.float32)
        if wanted.shape != (self.num_envs, 2) or not np.isfinite(wanted).all():
            raise UsageFault(
                "actions are finite: a row of steering in rad and speed in m/s for each body",
                got=f"an array of shape {wanted.shape}",
            )
        return np.clip(wanted, space.low, space.high).astype(np.float64)

    def _begin(self, which: Flags) -> None:
        count = int(np.count_nonzero(which))
        if self._start is None:
            along_m = self.np_random.uniform(0.0, self._floor.length_m, count)
            poses = self._floor.places(along_m)
        else:
            poses = np.repeat(self._start[:, None], count, axis=1)
        self._bodies.place(which, poses)
        for values in (self._t_s, self._made_m, self._laps, self._lap_began_s):
            values[which] = 0.0
        for values in (self._last_s, self._best_s):
            values[which] = 0.0
        self._along_m[which] = self._floor.beside(poses[0], poses[1])[0]

    def _now(self, hits: Flags) -> Moment:
        """Return the truth of now, an array in each field, and count progress and laps on."""
        x_m, y_m, yaw_rad, vx_mps = self._bodies.state[:4]
        length_m = self._floor.length_m
        along_m, lateral_m, line_rad = self._floor.beside(x_m, y_m)
        made_m = along_m - self._along_m
        self._made_m = self._made_m + made_m - length_m * np.round(made_m / length_m)
        self._along_m = along_m
        laps = np.maximum(np.floor(self._made_m / length_m), self._laps)
        is_lap = laps > self._laps
        took_s = self._t_s - self._lap_began_s
        self._last_s = np.where(is_lap, took_s, self._last_s)
        best_s = np.where(self._best_s > 0.0, np.minimum(self._best_s, took_s), took_s)
        self._best_s = np.where(is_lap, best_s, self._best_s)
        self._lap_began_s = np.where(is_lap, self._t_s, self._lap_began_s)
        self._laps = laps
        turned = yaw_rad - line_rad
        fields: dict[str, Any] = {
            "t_s": self._t_s,
            "x_m": x_m,
            "y_m": y_m,
            "yaw_rad": yaw_rad - _TURN * np.round(yaw_rad / _TURN),
            "speed_mps": vx_mps,
            "steer_rad": self._bodies.steer_rad,
            "steer_max_rad": self._steer_max_rad,
            "progress_m": self._made_m,
            "lateral_m": lateral_m,
            "heading_rad": turned - _TURN * np.round(turned / _TURN),
            "hits": hits.astype(np.float64),
            "is_off": np.zeros(self.num_envs, bool),
            "laps": laps,
            "lap_time_s": self._t_s - self._lap_began_s,
            "last_lap_s": self._last_s,
            "best_lap_s": self._best_s,
        }
        return Moment(**fields)

    def _observed(self) -> Observations:
        moment: Any = self._moment
        bodies = self._bodies
        values = {
            "pose": (moment.x_m, moment.y_m, moment.yaw_rad),
            "speed": (moment.speed_mps,),
            "steer": (moment.steer_rad,),
            "yaw_rate": (bodies.state[5],),
            "accel": tuple(bodies.accel_mps2),
            "laps": (moment.laps,),
            "lap_time": (moment.lap_time_s,),
            "collision": (moment.hits,),
        }
        spaces = self.single_observation_space
        assert isinstance(spaces, gymnasium.spaces.Dict)
        found: Observations = {}
        for name, space in spaces.items():
            assert isinstance(space, gymnasium.spaces.Box)
            rows = np.stack(values[name], axis=1)
            found[name] = np.clip(rows, space.low, space.high).astype(np.float32)
        return found

    def _info(self) -> dict[str, Any]:
        moment: Any = self._moment
        names = ("t_s", "x_m", "y_m", "yaw_rad", "progress_m", "lateral_m", "hits", "laps")
        return {
            **{name: getattr(moment, name) for name in names},
            "v_mps": moment.speed_mps,
            "lap_last_s": moment.last_lap_s,
            "lap_best_s": moment.best_lap_s,
        }
