"""The model of MPPI against the plant, and what it costs to be somewhere."""

from math import hypot, tan

import numpy as np
import pytest

pytest.importorskip("numba", reason="law=mppi needs tandem-cars[mppi]")

from host_bridge.inputs.paths.mppi import kernel
from host_bridge.inputs.paths.mppi.planner import COSTS, STEP_S
from sim_mock.plant.batch import Batch
from sim_mock.plant.parameters import PlantParameters
from tests.host_bridge.inputs.paths.mppi.made_planner import ROUND, VEHICLE, task_of

CAR = task_of(top_mps=8.0).car
REST = (0.0,) * 7


def driven(speed_mps, steer_rad, seconds, accel_mps2=0.0):
    state = (0.0, 0.0, 0.0, speed_mps, 0.0, 0.0, 0.0)
    for _ in range(round(seconds / STEP_S)):
        state = kernel.advance(state, steer_rad, accel_mps2, STEP_S, CAR)
    return state


def of_plant(speed_mps, steer_rad, seconds):
    """The same by the plant in steps of 1 ms, whose speed along is held by a motor."""
    table = {**VEHICLE.plant, "channels": list(VEHICLE.channels)}
    batch = Batch(PlantParameters.from_mapping(table).body, CAR.mu, 1)
    batch.state[3] = speed_mps
    steer = 0.0
    for _ in range(round(seconds * 1000)):
        steer += float(np.clip(steer_rad - steer, -CAR.steer_rate_radps * 1e-3, 1e-3 * 3.2))
        force_n = 60.0 * CAR.mass_kg * (speed_mps - batch.state[3])
        batch.step(1e-3, steer, 0.5 * force_n, 0.5 * force_n)
    return batch.state[:, 0]


@pytest.mark.parametrize(
    ("speed_mps", "steer_rad", "apart_m"), [(1.0, 0.3, 0.02), (3.0, 0.1, 0.05), (4.0, 0.2, 0.15)]
)
def test_it_drives_as_the_plant_does(speed_mps, steer_rad, apart_m):
    ours, plant = driven(speed_mps, steer_rad, 1.0), of_plant(speed_mps, steer_rad, 1.0)
    assert hypot(ours[0] - plant[0], ours[1] - plant[1]) < apart_m
    assert ours[5] == pytest.approx(plant[5], rel=0.05)


def test_beyond_its_grip_it_turns_no_more_than_the_tyres_hold():
    state = driven(6.0, 0.4, 1.0)
    assert state[3] * state[5] <= 1.02 * CAR.mu * 9.81
    assert abs(state[4]) < 6.0


def test_slowly_it_rolls_on_the_circle_of_its_wheels():
    state = driven(0.3, 0.3, 2.0)
    assert state[5] == pytest.approx(0.3 * tan(0.3) / (CAR.lf_m + CAR.lr_m), rel=0.01)


def test_at_rest_it_stays_to_the_last_bit_and_braked_it_comes_to_rest():
    assert kernel.advance(REST, 0.0, 0.0, STEP_S, CAR) == REST
    assert driven(2.0, 0.0, 1.5, accel_mps2=-3.0)[3] == 0.0


def cost_of(state, cost="race", **changes):
    task = task_of(ROUND, cost)
    terms = kernel.CostTerms(*COSTS[cost], 0.5, 4.0)._replace(**changes)
    points = task.track.points
    near = int(np.argmin(np.hypot(points[:, 0] - state[0], points[:, 1] - state[1])))
    at, left_m = kernel._nearest(state[0], state[1], near, points, True)
    c, n = np.cos(state[2]), np.sin(state[2])
    moved = state[3] * c - state[4] * n, state[3] * n + state[4] * c
    return kernel._running_cost(state, moved, at, left_m, 0.0, points, 1.0, terms)


def test_the_paper_s_cost_is_its_four_terms():
    """100 times the share of the width squared, 4.25 times the speed lacking squared, and so on."""
    assert cost_of((4.0, 0.25, 0.0, 3.0, 0.0, 0.0, 0.0), "autorally") == pytest.approx(29.25)
    slides = cost_of((4.0, 0.0, 0.0, 4.0, 2.0, 0.0, 0.0), "autorally")
    assert slides == pytest.approx(1.75 * 0.25)
    assert cost_of((4.0, 0.51, 0.0, 4.0, 0.0, 0.0, 0.0), "autorally") > 10_000.0


def test_a_race_s_speed_is_that_along_the_track():
    inside = cost_of((9.2, 2.0, np.pi / 2, 3.0, 0.0, 0.0, 0.0), wide_m=2.0)
    outside = cost_of((10.8, 2.0, np.pi / 2, 3.0, 0.0, 0.0, 0.0), wide_m=2.0)
    assert inside < outside
