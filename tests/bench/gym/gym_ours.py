"""Not a bench: steps of ``tandem.gym``, and of bodies alone, for ``bench_gym.py``.

It reads and answers as ``gym_theirs.py``. ``what``: ``cars`` by the wrapper with their names, with
scans of the LIDAR's own 40 Hz; ``races``, as many bodies as ``tandem/BodyRace-v0``, with walls,
observations and rewards; ``bodies``, their motion alone; ``single track``, one body in steps of
1 ms. 10 ms are four parts of 2.5 ms.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from time import process_time
from typing import Any

import numpy as np
from tandem.gym.body_race import BodyRaceEnv
from tandem.gym.f110 import F110Env

from sim_mock.plant.batch import Batch
from sim_mock.runtime import compiled
from tests.bench.support.plants_alone import single_track_s
from tests.sim_mock.plant.cars import f1tenth

PARTS, PART_S = 4, 2.5e-3  # of a step of 10 ms: the longest at which the tyres are stable


def cars_s(asked: Any) -> float:
    poses = np.array(asked["poses"])
    env = F110Env(map=asked["track"], num_agents=len(poses))
    actions = np.tile((0.0, asked["speed_mps"]), (len(poses), 1))
    observation = env.reset(poses)[0]
    begun_s = process_time()
    for _ in range(asked["steps"]):
        observation = env.step(actions)[0]
    took_s = process_time() - begun_s
    assert min(observation["linear_vels_x"]) > 0.2, "they drive"
    assert not any(observation["collisions"]), "it hit something: that is another step"
    env.close()
    return took_s / asked["steps"]


def bodies_s(asked: Any) -> float:
    p = f1tenth()
    batch = Batch(p.body, p.mu, asked["cars"])
    batch.state[3] = asked["speed_mps"]
    angles = np.linspace(-0.1, 0.1, asked["cars"])
    begun_s = process_time()
    for _ in range(asked["steps"] * PARTS):
        batch.step(PART_S, angles, 1.0)
    return (process_time() - begun_s) / asked["steps"]


def races_s(asked: Any) -> float:
    env = BodyRaceEnv(asked["cars"], track=asked["track"], period_s=PARTS * PART_S)
    env.reset(seed=1)
    actions = np.zeros((asked["cars"], 2), np.float32)
    actions[:, 1] = asked["speed_mps"]
    begun_s = process_time()
    for _ in range(asked["steps"]):
        info = env.step(actions)[-1]
    took_s = process_time() - begun_s
    assert info["v_mps"].max() > 0.2, "they drive"
    return took_s / asked["steps"]


MEASURES: dict[str, Callable[[Any], float]] = {
    "cars": cars_s,
    "races": races_s,
    "bodies": bodies_s,
    "single track": lambda _asked: single_track_s(),
}


def main() -> None:
    for line in sys.stdin:
        asked = json.loads(line)
        step_s = MEASURES[asked["what"]](asked)
        print(json.dumps({"step_s": step_s, "machine_code": compiled.is_in_use()}), flush=True)


if __name__ == "__main__":
    main()
