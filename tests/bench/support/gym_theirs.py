"""Not a bench: f1tenth_gym's own steps, run by a Python that has numba, for ``bench_gym.py``.

``PYTHON gym_theirs.py GYM_FOLDER`` reads one JSON object a line from standard input (map,
extension, poses, steps, speed_mps, what) and answers each with the seconds of a core that a step
took. ``what``: the environment as shipped, ``no scans`` with a constant scan, or ``bodies``, the
vehicle model alone. gym and pyglet, of which stepping needs nothing, may be missing.
"""

import json
import sys
from time import process_time
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np

STEER_RAD = 0.0


def f110_env(folder: str) -> Any:
    """Return their environment's module."""
    sys.path.insert(0, folder)
    gym, utils = ModuleType("gym"), ModuleType("gym.utils")
    gym.Env, gym.utils = object, utils  # type: ignore[attr-defined]
    gym.error = gym.spaces = utils.seeding = None  # type: ignore[attr-defined]
    registration = ModuleType("gym.envs.registration")
    registration.register = lambda **_: None  # type: ignore[attr-defined]
    pyglet = ModuleType("pyglet")
    pyglet.options, pyglet.gl = {}, None  # type: ignore[attr-defined]
    for name, module in (
        ("gym", gym),
        ("gym.utils", utils),
        ("gym.envs", ModuleType("gym.envs")),
        ("gym.envs.registration", registration),
        ("pyglet", pyglet),
    ):
        sys.modules.setdefault(name, module)
    from f110_gym.envs import base_classes, f110_env

    return SimpleNamespace(env=f110_env.F110Env, car=base_classes.RaceCar)


def step_s(theirs: Any, asked: Any) -> float:
    """Return the seconds of a core of one step, after a warm-up that compiles."""
    theirs.car.scan_simulator = None
    poses = np.array(asked["poses"])
    env = theirs.env(map=asked["map"], map_ext=asked["extension"], num_agents=len(poses))
    actions = np.tile((STEER_RAD, asked["speed_mps"]), (len(poses), 1))
    scanner = theirs.car.scan_simulator
    if asked["what"] != "as shipped":
        constant = np.full(scanner.num_beams, 10.0)
        scanner.scan = lambda _pose, _random: constant
    env.reset(poses)
    for _ in range(20):
        env.step(actions)
    env.reset(poses)
    cars = env.sim.agents
    begun_s = process_time()
    for _ in range(asked["steps"]):
        if asked["what"] == "bodies":
            for car in cars:
                car.update_pose(STEER_RAD, asked["speed_mps"])
        else:
            env.step(actions)
    took_s = process_time() - begun_s
    assert not any(car.in_collision for car in cars), "it hit something: that is another step"
    return took_s / asked["steps"]


def main() -> None:
    theirs = f110_env(sys.argv[1])
    for line in sys.stdin:
        print(json.dumps(step_s(theirs, json.loads(line))), flush=True)


if __name__ == "__main__":
    main()
