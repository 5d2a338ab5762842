"""Not a test: Stable-Baselines3's check of Race-v0, and a few steps of its PPO; prints JSON.

Run by ``test_gym_sb3.py`` with Stable-Baselines3 on the path.
"""

import json
import warnings

import gymnasium
import stable_baselines3
import tandem.gym  # noqa: F401 - registers the environments
from stable_baselines3 import PPO
from stable_baselines3.common.env_checker import check_env

STEPS = 64


def main() -> None:
    env = gymnasium.make(
        "tandem/Race-v0", vehicle="f1tenth", track="corridor", seconds=5.0, normalized=True
    )
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        check_env(env.unwrapped, warn=True)
    model = PPO("MultiInputPolicy", env, n_steps=STEPS, batch_size=STEPS, seed=1, device="cpu")
    model.learn(2 * STEPS)
    env.close()
    print(
        json.dumps(
            {
                "version": stable_baselines3.__version__,
                "steps": model.num_timesteps,
                "told": [str(it.message) for it in told if issubclass(it.category, UserWarning)],
            }
        )
    )


if __name__ == "__main__":
    main()
