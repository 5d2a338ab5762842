"""Several cars on one track, by PettingZoo's parallel API: each an agent with a car of its own.

The cars see each other in their LIDARs and stop at each other as at walls. Each has its own host,
claims and program; all advance by the same ticks, one after the other.
"""

from __future__ import annotations

import itertools
from typing import Any, ClassVar

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from host_bridge.core.errors import UsageFault
from tandem.arguments import whole
from tandem.gym.episode import Action, Place, Seat
from tandem.gym.racer import Observation
from tandem.gym.rendering import Canvas
from tandem.gym.rewards import Reward
from tandem.gym.settings import checked, refuse_mode, reset_options

try:
    from pettingzoo import ParallelEnv
except ImportError:
    raise UsageFault(
        "several cars in one environment need pettingzoo, which is not installed here",
        remedy="pip install 'tandem-cars[gym]'",
    ) from None

_MOST_CARS = 8  # chosen: more have no room on the tracks that are here
_APART_M = 1.5  # chosen: three lengths of a car, one behind the other along the centre line
_scenes = itertools.count(1)


class DuelEnv(ParallelEnv[str, Observation, Action]):  # type: ignore[misc]  # untyped
    """Cars ``car_0``, ``car_1`` and so on; the options are those of ``tandem/Race-v0``.

    A car whose episode is over leaves ``agents``; it comes to rest and stays on the track.
    """

    metadata: ClassVar[dict[str, Any]] = {
        "name": "tandem_duel_v0",
        "render_modes": ["rgb_array"],
        "is_parallelizable": True,
    }

    def __init__(
        self,
        cars: int = 2,
        vehicle: str = "f1tenth",
        track: str = "",
        map: str = "",  # noqa: A002 - said as in a car's URI
        period_s: float = 0.05,  # chosen: 20 decisions a second
        rays: int = 270,  # chosen: one for each degree of the usual LIDAR
        pose: str = "odometry",
        reward: str | Reward = "progress",
        laps: int = 0,
        seconds: float = 60.0,  # chosen: some laps of a track that fits into a room
        ends_on_hit: bool = True,
        faults: str = "",
        render_mode: str | None = None,
    ) -> None:
        """Check the options. Raises errors.TandemError for what cannot be."""
        refuse_mode(render_mode)
        self.render_mode = render_mode
        self._place = Place(
            checked(
                vehicle,
                track,
                map,
                period_s,
                rays,
                pose,
                reward,
                laps,
                seconds,
                ends_on_hit,
                faults,
            )
        )
        self.possible_agents = [f"car_{i}" for i in range(whole("cars", cars, 1, _MOST_CARS))]
        self.agents: list[str] = []
        self._seats: dict[str, Seat] = {}
        self._canvas: Canvas | None = None
        self._random = np.random.default_rng()

    def observation_space(self, agent: str) -> spaces.Dict:
        return self._place.observation_space

    def action_space(self, agent: str) -> spaces.Box:
        return self._place.action_space

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Observation], dict[str, dict[str, Any]]]:
        """Make all cars anew, one behind the other, and arm them.

        Equal seed and options give equal bytes. ``options`` are those of ``tandem/Race-v0``;
        ``start`` is where the first car stands. Raises errors.TandemError.
        """
        if seed is not None:
            self._random = np.random.default_rng(seed)
        query, changes = reset_options(options)
        chosen = int(self._random.integers(2**32))
        self.close()
        self._canvas = None
        self.agents = list(self.possible_agents)
        scene = f"gym-{next(_scenes)}"
        for i, agent in enumerate(self.agents):
            start = self._place.start_of(i, _APART_M, query.get("start"))
            words = {**query, "start": start, "scene": scene, "name": agent}
            self._seats[agent] = self._place.seat(chosen + i, words, changes)
        ready = [False]
        while not all(ready):  # all arm alike, and in the same ticks
            ready = [seat.racer.prepare() for seat in self._seats.values()]
        for seat in self._seats.values():
            seat.begin()
        return (
            {agent: seat.observation() for agent, seat in self._seats.items()},
            {agent: seat.info() for agent, seat in self._seats.items()},
        )

    def step(
        self, actions: dict[str, Action]
    ) -> tuple[
        dict[str, Observation],
        dict[str, float],
        dict[str, bool],
        dict[str, bool],
        dict[str, dict[str, Any]],
    ]:
        """Drive all cars for one period. Raises errors.UsageFault for an action that is none."""
        for agent in self.agents:
            if agent in actions:
                self._seats[agent].act(actions[agent])
        for _ in range(self._place.settings.ticks):
            for seat in self._seats.values():
                seat.racer.tick()
        found = {agent: self._seats[agent].result() for agent in self.agents}
        self.agents = [agent for agent, it in found.items() if not (it[2] or it[3])]
        return (
            {agent: it[0] for agent, it in found.items()},
            {agent: it[1] for agent, it in found.items()},
            {agent: it[2] for agent, it in found.items()},
            {agent: it[3] for agent, it in found.items()},
            {agent: it[4] for agent, it in found.items()},
        )

    def render(self) -> NDArray[np.uint8] | None:
        """Return a picture of all cars."""
        if self.render_mode != "rgb_array" or not self._seats:
            return None
        first = next(iter(self._seats.values()))
        self._canvas = self._canvas or Canvas(first.racer.walls())
        return self._canvas.drawn(
            {name: (seat.moment, seat.racer.outline()) for name, seat in self._seats.items()}
        )

    def close(self) -> None:
        """End the cars' programs."""
        for seat in self._seats.values():
            seat.racer.close()
        self._seats = {}
