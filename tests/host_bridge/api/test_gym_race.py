"""Race-v0 and its kin: exact resets, ends of an episode, and the checkers of their makers."""

from __future__ import annotations

import numpy as np
import pytest

gymnasium = pytest.importorskip("gymnasium", reason="the extra gym is not installed")

import tandem.gym  # noqa: E402 - it needs gymnasium
from gymnasium.utils.env_checker import check_env  # noqa: E402
from tandem.gym import rewards  # noqa: E402
from tandem.gym.f110 import F110Env  # noqa: E402
from tandem.gym.racer import Moment  # noqa: E402

from host_bridge.core.errors import UsageFault  # noqa: E402
from tests.support.evidence import every, some  # noqa: E402

AHEAD = np.array([0.0, 1.0], dtype=np.float32)


def episode(env, seed, steps, action=AHEAD, **options):
    observation, info = env.reset(seed=seed, options=options or None)
    seen, rows = [observation], [(0.0, False, False, info)]
    for _ in range(steps):
        observation, *row = env.step(action)
        seen.append(observation)
        rows.append(tuple(row))
        if row[1] or row[2]:
            break
    return seen, rows


def equal(first, second):
    return every(
        np.array_equal(a[key], b[key]) for a, b in zip(first, second, strict=True) for key in a
    )


def race(**options):
    return gymnasium.make("tandem/Race-v0", vehicle="f1tenth", track="corridor", **options)


def test_equal_seeds_and_options_give_equal_observations():
    env = race()
    first, rows = episode(env, 7, 8)
    second, _ = episode(env, 7, 8)
    other, _ = episode(env, 8, 8)
    heavy, _ = episode(env, 7, 8, payload_kg=1.0)
    assert len(some(first)) == 9
    assert equal(first, second)
    assert not equal(first, other)
    assert not equal(first, heavy)
    assert rows[-1][3]["v_mps"] > 0.3
    assert sum(row[0] for row in rows) == pytest.approx(rows[-1][3]["progress_m"])
    assert env.observation_space.contains(first[-1])
    env.close()


def test_normalized_actions_stand_for_the_ends_of_the_others():
    plain, normalized = race(rays=0), race(rays=0, normalized=True)
    low, high = plain.action_space.low, plain.action_space.high
    assert normalized.action_space.low.tolist() == [-1.0, -1.0]
    first, _ = episode(plain, 7, 4, low + 0.75 * (high - low))
    second, _ = episode(normalized, 7, 4, np.array([0.5, 0.5], dtype=np.float32))
    assert np.allclose(first[-1]["steer"], second[-1]["steer"], atol=1e-4)
    assert np.allclose(first[-1]["speed"], second[-1]["speed"], atol=1e-3)
    assert abs(float(first[-1]["steer"][0])) > 0.1


def test_a_hit_ends_it_and_time_truncates_it():
    env = race(rays=0)
    left = np.array([0.4, 2.0], dtype=np.float32)
    _, rows = episode(env, 1, 100, left)
    reward, is_terminated, is_truncated, info = rows[-1]
    assert (is_terminated, is_truncated, info["hits"]) == (True, False, 1)
    assert reward < -9.0
    env = race(rays=0, seconds=0.3)
    _, rows = episode(env, 1, 100)
    assert rows[-1][1:3] == (False, True)
    assert rows[-1][3]["t_s"] == pytest.approx(0.3)


def test_a_stop_of_the_car_ends_it_and_says_why():
    env = race(rays=0)
    _, rows = episode(env, 1, 100, faults="runstop@3s")
    assert rows[-1][1]
    assert "stop" in rows[-1][3]["why_stopped"]


def test_a_start_and_its_picture():
    env = race(rays=0, render_mode="rgb_array")
    _, info = env.reset(seed=1, options={"start": (1.0, 0.1, 10.0)})
    assert (info["x_m"], info["y_m"]) == pytest.approx((1.0, 0.1), abs=1e-6)
    env.step(AHEAD)
    picture = env.render()
    assert picture.shape == (480, 480, 3)
    assert len(np.unique(picture.reshape(-1, 3), axis=0)) >= 3


@pytest.mark.parametrize(
    ("options", "what"),
    [
        ({"period_s": 0.5}, "lease"),
        ({"period_s": 0.025}, "ticks"),
        ({"reward": "fast"}, "progress, speed_along"),
        ({"map": "x.yaml"}, "a track or on a map"),
        ({"render_mode": "human"}, "rgb_array"),
        ({"vehicle": "rzr"}, "no LIDAR"),
    ],
)
def test_what_cannot_be_is_refused(options, what):
    with pytest.raises(UsageFault, match=what):
        tandem.gym.RaceEnv(**{"track": "corridor", **options})


def test_an_unknown_option_of_reset_and_an_action_that_is_none_are_refused():
    env = tandem.gym.RaceEnv(rays=0)
    with pytest.raises(UsageFault, match="did you mean start"):
        env.reset(seed=1, options={"strat": (0, 0, 0)})
    with pytest.raises(UsageFault, match="reset"):
        env.step(AHEAD)
    env.reset(seed=1)
    with pytest.raises(UsageFault, match="finite"):
        env.step(np.array([np.nan, 0.0], dtype=np.float32))


def moment(**values):
    known = dict.fromkeys(Moment.__dataclass_fields__, 0.0)
    return Moment(
        **{**known, "hits": 0, "laps": 0, "is_off": False, "steer_max_rad": 0.4, **values}
    )


def test_rewards_are_their_formulas():
    before = moment(t_s=1.0, progress_m=2.0)
    after = moment(t_s=1.05, progress_m=2.1, speed_mps=2.0, steer_rad=0.2, laps=1, hits=1)
    assert rewards.progress(before, after) == pytest.approx(0.1 - 10.0)
    assert rewards.speed_along(before, after) == pytest.approx(0.1)
    assert rewards.minimum_time(before, after) == pytest.approx(10.0 - 0.05)
    assert rewards.smooth(before, after) == pytest.approx(0.1 - 10.0 - 0.1 * 0.25)
    assert set(rewards.REWARDS) == {"progress", "speed_along", "minimum_time", "smooth"}


def test_the_names_of_f1tenth_gym():
    env = F110Env(map="corridor", num_agents=2)
    obs, reward, done, info = env.reset(np.array([[0.0, 0.0, 0.0], [-1.5, 0.0, 0.0]]))
    assert {"ego_idx", "scans", "poses_x", "poses_y", "poses_theta"} < set(obs)
    assert {"linear_vels_x", "linear_vels_y", "ang_vels_z"} < set(obs)
    assert {"collisions", "lap_times", "lap_counts"} < set(obs)
    assert (reward, done, len(info["checkpoint_done"])) == (0.01, False, 2)
    for _ in range(60):
        obs, _, done, _ = env.step(np.array([[0.0, 2.0], [0.0, 0.0]]))
    assert obs["poses_x"][0] > 0.3
    assert obs["poses_x"][1] == pytest.approx(-1.5, abs=0.02)
    assert [len(scan) for scan in obs["scans"]] == [1080, 1080]
    for _ in range(4):  # a step is shorter than a turn: each has an array of its own all the same
        obs["scans"][0][:] = -1.0
        obs, _, _, _ = env.step(np.zeros((2, 2)))
        assert obs["scans"][0].min() >= 0.0
    with pytest.raises(UsageFault, match="mu, m, I"):
        F110Env(params={"lf": 0.1})
    env.close()


@pytest.mark.exhaustive  # it drives dozens of episodes
def test_the_checkers_of_gymnasium_and_pettingzoo_are_content():
    from pettingzoo.test import parallel_api_test
    from tandem.gym.parallel import DuelEnv

    class Lenient(DuelEnv):
        """It is asked to take an option of no meaning, which ours refuses."""

        def reset(self, seed=None, options=None):
            return super().reset(seed, None if options == {"options": 1} else options)

    check_env(race(render_mode="rgb_array").unwrapped)
    parallel_api_test(Lenient(seconds=1.0), num_cycles=50)


def test_two_cars_race_and_one_runs_into_the_other():
    env = tandem.gym.parallel_env(cars=2, rays=0, seconds=5.0)
    _, info = env.reset(seed=3)
    assert info["car_1"]["x_m"] == pytest.approx(-1.5, abs=1e-6)
    speeds = {"car_0": 0.0, "car_1": 2.0}
    hits = {}
    while env.agents:
        actions = {name: np.array([0.0, speeds[name]], dtype=np.float32) for name in env.agents}
        _, _, terminated, truncated, info = env.step(actions)
        hits |= {name: info[name]["hits"] for name in info}
        assert set(terminated) == set(truncated)
    assert hits["car_1"] == 1


@pytest.mark.process
def test_vectors_of_environments_in_processes():
    envs = gymnasium.make_vec("tandem/Race-v0", num_envs=2, vectorization_mode="async", rays=0)
    seen, _ = envs.reset(seed=5)
    assert seen["pose"].shape == (2, 3)
    _, rewarded, *_ = envs.step(np.stack([AHEAD, AHEAD]))
    assert rewarded.shape == (2,)
    envs.close()
