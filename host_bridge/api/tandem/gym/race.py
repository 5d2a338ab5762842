"""``tandem/Race-v0``: one car round a track, with the car's own program in the loop."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from numpy.typing import NDArray

from tandem.gym.episode import Action, Place, Seat
from tandem.gym.racer import Observation
from tandem.gym.rendering import Canvas
from tandem.gym.rewards import Reward
from tandem.gym.settings import checked, refuse_mode, reset_options


class RaceEnv(gymnasium.Env[Any, Any]):
    """A race against the clock; README.md has observation, action, rewards and options."""

    metadata = {"render_modes": ["rgb_array"], "render_fps": 20}  # noqa: RUF012 - Gymnasium's own

    def __init__(
        self,
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
        normalized: bool = False,
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
                normalized,
            )
        )
        self.metadata = {**self.metadata, "render_fps": round(1.0 / period_s)}
        self.action_space = self._place.action_space
        self.observation_space = self._place.observation_space
        self._seat: Seat | None = None
        self._canvas: Canvas | None = None

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Make the car anew, arm it, and return what it sees.

        Equal seed and options give equal bytes of all that follows. Raises errors.TandemError.
        """
        super().reset(seed=seed)
        query, changes = reset_options(options)
        # Without a seed it is the next of np_random, so that a seeded run is the same as a whole
        chosen = seed if seed is not None else int(self.np_random.integers(2**32))
        self.close()
        self._canvas = None
        self._seat = seat = self._place.seat(chosen, query, changes)
        while not seat.racer.prepare():
            pass
        seat.begin()
        return seat.observation(), seat.info()

    def step(self, action: Action) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Drive for one period. Raises errors.UsageFault before the first ``reset``."""
        seat = self._place.taken(self._seat)
        seat.act(action)
        for _ in range(self._place.settings.ticks):
            seat.racer.tick()
        return seat.result()

    def render(self) -> NDArray[np.uint8] | None:
        """Return a picture of 480 x 480 pixels: walls, the car and its way."""
        if self.render_mode != "rgb_array":
            return None
        seat = self._place.taken(self._seat)
        self._canvas = self._canvas or Canvas(seat.racer.walls())
        return self._canvas.drawn({"": (seat.moment, seat.racer.outline())})

    def close(self) -> None:
        """End the car's program."""
        if self._seat:
            self._seat.racer.close()
            self._seat = None
