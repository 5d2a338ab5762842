"""A thousand bodies in one step are a thousand bodies, one by one."""

from random import Random

import numpy as np
import pytest

from sim_mock.plant.batch import Batch
from sim_mock.plant.body import BodyInput, BodyState
from sim_mock.plant.integrators import rk2, step_body
from tests.sim_mock.plant.cars import f1tenth, nigel

DT_S = 1e-3
COUNT, STEPS = 40, 1500


def one_by_one(body, mu, starts, commands):
    """Each car alone through ``step_body``, loads shifting as in the plant."""
    ends = []
    for start, (front, rear, along_front, along_rear) in zip(starts, commands, strict=True):
        s, u, accel = BodyState(*start), BodyInput(body, mu), 0.0
        for step in range(STEPS):
            u.steer(front(step), rear(step), body)
            u.load(accel, mu, body)
            u.force_front_n, u.force_rear_n = along_front(step), along_rear(step)
            vx, vy = s.vx_mps, s.vy_mps
            step_body(s, DT_S, u, body, rk2)
            accel = (s.vx_mps - vx) / DT_S - vy * s.yaw_rate_radps
        ends.append(s.values())
    return np.array(ends).T


def waves(random, size):
    """A smooth command: so much, so often."""
    most, slow, at = random.uniform(-size, size), random.uniform(50, 400), random.uniform(0, 6)
    return lambda step: most * np.sin(step / slow + at)


@pytest.mark.exhaustive
@pytest.mark.parametrize("make", [f1tenth, nigel])
@pytest.mark.parametrize("law", ["fiala", "linear"])
def test_a_batch_moves_as_its_cars_do_alone(make, law):
    parameters, random = make(tyre={"law": law}), Random(3)
    body, mu = parameters.body, parameters.mu
    speed = 4.0 * body.kinematic_below_mps
    starts = [
        (0.0, 0.0, random.uniform(-3, 3), random.uniform(0, speed), 0, 0) for _ in range(COUNT)
    ]
    sizes = (0.3, 0.1, 0.2 * mu * body.mass_kg * 9.81, 0.3 * mu * body.mass_kg * 9.81)
    commands = [tuple(waves(random, size) for size in sizes) for _ in range(COUNT)]
    batch = Batch(body, mu, COUNT)
    batch.state[:] = np.array(starts).T
    for step in range(STEPS):
        front, rear, along_front, along_rear = np.array([[f(step) for f in c] for c in commands]).T
        batch.step(DT_S, front, along_rear, along_front, rear)
    expected = one_by_one(body, mu, starts, commands)
    assert batch.state == pytest.approx(expected, rel=1e-9, abs=1e-9)
    assert np.ptp(expected[0]) > 0.1, "they went different ways"


def test_at_rest_stays_at_rest_to_the_last_bit():
    batch = Batch(f1tenth().body, 1.0, 7)
    for _ in range(100):
        batch.step(DT_S, 0.2, 0.0)
    assert not batch.state.any()


def test_one_number_is_for_all_and_a_wrong_shape_is_refused():
    batch = Batch(f1tenth().body, 1.0, 3)
    batch.state[3] = 2.0
    batch.step(DT_S, 0.1, 1.0)
    assert (batch.state == batch.state[:, :1]).all()
    with pytest.raises(ValueError, match="broadcast"):
        batch.step(DT_S, [0.1, 0.2], 1.0)
