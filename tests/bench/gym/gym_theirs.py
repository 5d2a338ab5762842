"""Not a bench: f1tenth_gym's own steps, run by a Python that has numba, for ``bench_gym.py``.

``PYTHON gym_theirs.py GYM_FOLDER`` reads one JSON object a line from standard input (map,
extension, poses, steps, speed_mps, what) and answers each with the seconds of a core that a step
took. ``what``: the environment as shipped, ``no scans`` with a constant scan, or ``bodies``, the
vehicle model alone; ``single track``, its right-hand side in steps of 1 ms, and the same ``in
numba``, in a loop that is compiled too. gym and pyglet, of which stepping needs nothing, may be
missing.
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
    from f110_gym.envs import base_classes, dynamic_models, f110_env

    return SimpleNamespace(
        env=f110_env.F110Env, car=base_classes.RaceCar, rates=dynamic_models.vehicle_dynamics_st
    )


# As their environment has them without params: mu, C_Sf, C_Sr, lf, lr, h, m, I, the limits
PARAMETERS = (1.0489, 4.718, 5.4562, 0.15875, 0.17145, 0.074, 3.74, 0.04712, -0.4189, 0.4189, -3.2,
              3.2, 7.319, 9.51, -5.0, 20.0)  # fmt: skip
STEP_S, SPEED_MPS, TURN_RAD = 1e-3, 3.0, 0.1


def single_track_s(theirs: Any, asked: Any) -> float:
    """Return the seconds of a core of one step of their single track, by Euler."""
    from numba import njit

    rates, steps = theirs.rates, asked["steps"]
    start = np.array((0.0, 0.0, TURN_RAD, SPEED_MPS, 0.0, 0.0, 0.0))
    still = np.zeros(2)

    def called(count: int) -> Any:
        x = start.copy()
        for _ in range(count):
            x = x + STEP_S * rates(x, still, *PARAMETERS)
        return x

    run = njit(called) if asked["what"].endswith("numba") else called
    run(10)
    begun_s = process_time()
    end = run(steps)
    took_s = process_time() - begun_s
    assert np.isfinite(end).all()
    return took_s / steps


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
        asked = json.loads(line)
        measure = single_track_s if asked["what"].startswith("single track") else step_s
        print(json.dumps(measure(theirs, asked)), flush=True)


if __name__ == "__main__":
    main()
