"""Plans by sampling: the same bits again, back to the line, round a bend within what is allowed."""

import numpy as np
import pytest

pytest.importorskip("numba", reason="law=mppi needs tandem-cars[mppi]")

from host_bridge.inputs.paths.mppi import kernel
from host_bridge.inputs.paths.mppi.planner import PERIOD_US, STEP_S, STEPS, Planner
from tests.host_bridge.inputs.paths.mppi.made_planner import ROUND, request_at, task_of
from tests.support.evidence import every


def planned(seed=0, count=3, **place):
    planner = Planner(task_of(seed=seed))
    return [planner.plan(request_at(i * PERIOD_US, **place)) for i in range(count)]


def test_equal_requests_give_equal_plans_to_the_last_bit_and_another_seed_others():
    first, again = planned(), planned()
    assert first == again
    assert planned(seed=1) != first


@pytest.mark.parametrize(("left_m", "towards"), [(0.3, -1.0), (-0.3, 1.0)])
def test_beside_its_line_and_near_the_edge_it_steers_back(left_m, towards):
    plan = planned(count=8, y_m=1.6 * left_m, yaw_rad=0.0)[-1]
    assert towards * float(np.mean(plan.steer_rad[:20])) > 0.005


def test_it_goes_as_fast_as_it_may_and_no_faster():
    planner = Planner(task_of(top_mps=3.0))
    plan = [planner.plan(request_at(i * PERIOD_US)) for i in range(20)][-1]
    assert plan.speed_mps[-1] == pytest.approx(3.0, abs=0.2)
    assert max(plan.speed_mps) <= 3.0


def test_a_request_after_a_pause_begins_anew():
    planner = Planner(task_of())
    planner.plan(request_at(0))
    late = planner.plan(request_at(10_000_000))
    assert len(late.steer_rad) == STEPS
    assert planner.plan(request_at(10_000_000)).begin_us == 10_000_000


def test_round_a_loop_it_stays_on_the_track_and_within_the_sideways_acceleration():
    """The model itself is the car: what MPPI thinks of its own plans."""
    task = task_of(ROUND, lateral_mps2=4.0, top_mps=4.0)
    planner = Planner(task)
    state, at = (0.5, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0), 0
    lefts, sideways, speeds = [], [], []
    for i in range(400):  # 10 s: more than a lap
        x, y, yaw, speed, _, rate, steer = state
        at, left_m = kernel._nearest(x, y, at, task.track.points, True)
        behind = task.behind_m
        request = request_at(
            i * PERIOD_US, x - behind * np.cos(yaw), y - behind * np.sin(yaw), yaw, speed,
            at * task.track.spacing_m,
        )._replace(yaw_rate_radps=rate, steer_rad=steer)  # fmt: skip
        plan = planner.plan(request)
        accel = float(np.clip((plan.speed_mps[0] - speed) / 0.2, -3.0, task.car.accel_mps2))
        state = kernel.advance(state, plan.steer_rad[0], accel, STEP_S, task.car)
        lefts.append(abs(left_m))
        sideways.append(abs(state[3] * state[5]))
        speeds.append(state[3])
    assert every(left_m < task.wide_m + 0.1 for left_m in lefts)
    assert max(sideways) < 5.0
    assert np.mean(speeds[100:]) > 2.0
