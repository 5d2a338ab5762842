"""BodyRace-v0: bare bodies move about as the whole car, hit walls, count laps, begin anew."""

from __future__ import annotations

import numpy as np
import pytest

gymnasium = pytest.importorskip("gymnasium", reason="the extra gym is not installed")

import tandem.gym  # noqa: E402, F401 - it registers them
from tandem.gym.floor import Floor  # noqa: E402

from host_bridge.core.errors import DataFileFault, UsageFault  # noqa: E402
from sim_mock.tracks.loading import load_track  # noqa: E402
from tests.support.evidence import every, some  # noqa: E402


def bodies(count=3, vehicle="nigel", track="oval", **options):
    return gymnasium.make_vec(
        "tandem/BodyRace-v0", num_envs=count, vehicle=vehicle, track=track, **options
    )


def rows(count, steer_rad, speed_mps):
    return np.tile(np.array((steer_rad, speed_mps), np.float32), (count, 1))


def test_equal_seeds_are_equal_races_and_each_body_begins_elsewhere():
    first, second, other = (bodies() for _ in range(3))
    for env, seed in ((first, 7), (second, 7), (other, 8)):
        env.reset(seed=seed)
    seen, again, apart = (env.step(rows(3, 0.0, 0.3))[0] for env in (first, second, other))
    assert every(np.array_equal(seen[key], again[key]) for key in seen)
    assert not np.array_equal(seen["pose"], apart["pose"])
    assert len(np.unique(some(seen["pose"][:, 0]))) == 3
    assert first.observation_space.contains(seen)


def test_actions_and_observations_are_those_of_the_car_with_its_program():
    car = gymnasium.make("tandem/Race-v0", vehicle="nigel", track="oval", rays=0)
    env = bodies()
    assert env.single_observation_space == car.observation_space
    assert env.single_action_space == car.action_space


def test_a_wall_ends_an_episode_and_the_next_step_begins_another():
    env = bodies(count=2, vehicle="f1tenth", track="corridor")
    env.reset(seed=1, options={"start": (0.0, 0.0, 0.0)})
    actions = np.array(((0.0, 2.0), (0.4, 2.0)), np.float32)
    for _ in range(100):
        seen, rewards, terminated, truncated, info = env.step(actions)
        if terminated.any():
            break
    assert (terminated.tolist(), truncated.tolist()) == ([False, True], [False, False])
    assert seen["collision"].ravel().tolist() == [0.0, 1.0]
    assert rewards[1] < -9.0 < 0.0 < rewards[0]
    _, rewards, terminated, _, info = env.step(actions)
    assert not terminated.any()
    assert (rewards[1], info["t_s"][1], info["x_m"][1], info["v_mps"][1]) == (0.0, 0.0, 0.0, 0.0)
    assert info["t_s"][0] > 1.0, "the other one drives on"


def test_time_truncates_and_what_cannot_be_is_refused():
    env = bodies(seconds=0.1)
    with pytest.raises(UsageFault, match="reset"):
        env.step(rows(3, 0.0, 0.3))
    env.reset(seed=1)
    with pytest.raises(UsageFault, match="shape"):
        env.step(rows(2, 0.0, 0.3))
    with pytest.raises(UsageFault, match="start"):
        env.reset(options={"strat": (0, 0, 0)})
    env.reset(seed=1)
    assert not env.step(rows(3, 0.0, 0.3))[3].any()
    assert env.step(rows(3, 0.0, 0.3))[3].all()
    with pytest.raises(DataFileFault, match="no centre line"):
        bodies(track="nowhere")


@pytest.mark.exhaustive(as_a_whole=True)  # two laps of 22 s
def test_laps_are_counted_along_the_centre_line():
    env = bodies(laps=2)
    env.reset(seed=3)
    lateral_m, steer = np.zeros(3), np.zeros(3)
    line = Floor("oval", "")
    for _ in range(1000):
        actions = rows(3, 0.0, 0.4)
        actions[:, 0] = steer
        _, _, terminated, _, info = env.step(actions)
        if terminated.any():
            break
        lateral_m = info["lateral_m"]
        ahead = line.places((line.beside(info["x_m"], info["y_m"])[0] + 0.2) % line.length_m)[2]
        turn = np.remainder(ahead - info["yaw_rad"] + np.pi, 2 * np.pi) - np.pi
        steer = np.clip(turn - 2.0 * lateral_m, -0.45, 0.45)
    assert info["hits"].tolist() == [0.0] * 3
    assert info["laps"].max() == 2
    assert info["lap_best_s"].max() == pytest.approx(line.length_m / 0.4, rel=0.1)
    assert np.abs(lateral_m).max() < 0.15


def test_the_field_of_walls_is_right_to_half_a_cell():
    floor, walls = Floor("corridor", ""), load_track("corridor").walls
    points = np.random.default_rng(1).uniform((-8.0, -0.9), (8.0, 12.9), (200, 2))
    along = walls[:, 2:] - walls[:, :2]
    apart = points[:, None] - walls[None, :, :2]
    share = np.clip((apart * along).sum(axis=2) / (along**2).sum(axis=1), 0.0, 1.0)
    truth = np.hypot(*np.moveaxis(apart - share[..., None] * along, 2, 0)).min(axis=1)
    found = floor.walls_m(*points.T)
    assert np.abs(found - truth).max() < 0.5 * 2**0.5 * 0.05 + 0.02


@pytest.mark.exhaustive(as_a_whole=True)  # 12 s of cars with their programs
@pytest.mark.parametrize(
    ("vehicle", "track", "most_m"), [("f1tenth", "corridor", 0.15), ("nigel", "oval", 0.02)]
)
def test_two_seconds_from_rest_a_body_is_about_where_the_whole_car_is(vehicle, track, most_m):
    """The program hears an action later, and its motor and its filters take their time."""
    random, apart_m = np.random.default_rng(5), []
    car = gymnasium.make("tandem/Race-v0", vehicle=vehicle, track=track, rays=0, ends_on_hit=False)
    env = bodies(count=1, vehicle=vehicle, track=track)
    high = car.action_space.high
    for seed in range(3):
        _, truth = car.reset(seed=seed)
        env.reset(seed=seed, options={"start": (0.0, 0.0, 0.0)})
        action = (high * random.uniform((-0.08, 0.5), (0.08, 1.0))).astype(np.float32)
        for _ in range(40):
            *_, is_over, _, truth = car.step(action)
            _, _, terminated, _, info = env.step(action[None])
            assert not is_over
            assert not terminated.any()
        apart_m.append(
            float(np.hypot(info["x_m"][0] - truth["x_m"], info["y_m"][0] - truth["y_m"]))
        )
        assert info["progress_m"][0] > 0.1, "it drove"
    print(f"{vehicle}: {', '.join(f'{it:.3f}' for it in apart_m)} m apart after 2 s")
    assert max(some(apart_m)) < most_m
