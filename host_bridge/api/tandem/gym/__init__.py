"""Virtual cars as Gymnasium environments, with the car's own program in the loop.

    import gymnasium
    import tandem.gym

    env = gymnasium.make("tandem/Race-v0", vehicle="f1tenth", track="corridor")
    observation, info = env.reset(seed=1)

README.md has spaces, rewards and options. The extra ``gym`` brings Gymnasium and PettingZoo.
"""

from __future__ import annotations

from host_bridge.core.errors import UsageFault

try:
    import gymnasium
except ImportError:
    raise UsageFault(
        "tandem.gym needs gymnasium, which is not installed here",
        remedy="pip install 'tandem-cars[gym]'",
    ) from None

from host_bridge.inputs.policies.policy import Policy, load_policy, save_policy
from tandem.gym import rewards
from tandem.gym.race import RaceEnv
from tandem.gym.racer import Moment

__all__ = [
    "Moment",
    "Policy",
    "RaceEnv",
    "load_policy",
    "parallel_env",
    "rewards",
    "save_policy",
]

gymnasium.register(id="tandem/Race-v0", entry_point="tandem.gym.race:RaceEnv")
gymnasium.register(id="tandem/BodyRace-v0", vector_entry_point="tandem.gym.body_race:BodyRaceEnv")


def parallel_env(**options: object) -> object:
    """Return several cars on one track as a ParallelEnv of PettingZoo; see ``parallel.py``."""
    from tandem.gym.parallel import DuelEnv  # PettingZoo takes a second to load

    return DuelEnv(**options)  # type: ignore[arg-type]
