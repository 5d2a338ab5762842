"""What is done to a car: put on a stand, pushed, driven or steered by a part that is stuck."""

import pytest

from sim_mock.plant.vehicle_plant import Plant
from tests.sim_mock.plant.cars import NEUTRAL, f1tenth, f1tenth_outputs, nigel, nigel_outputs

DT_S = 0.001


def run(plant, outputs, seconds, enable=True):
    for _ in range(round(seconds / DT_S)):
        plant.step(DT_S, outputs, enable)
    return plant


def test_on_a_stand_wheels_turn_and_the_car_stays_where_it_is():
    plant = run(Plant(f1tenth(), 1), NEUTRAL, 0.6)
    plant.is_on_stand = True
    run(plant, f1tenth_outputs(0.2, 60_000), 1.0)
    assert plant.wheel_speed_mps > 0.5
    assert plant.counts()[0] > 100
    assert plant.truth.values() == (0.0,) * 6
    assert plant.steer_rad == pytest.approx(0.2)


def test_wheels_on_a_stand_run_faster_than_on_the_ground_and_end_at_rest():
    lifted, grounded = Plant(nigel(), 1), Plant(nigel(), 1)
    lifted.is_on_stand = True
    for plant in (lifted, grounded):
        run(plant, nigel_outputs(0, 5_000), 2.0)
    assert lifted.wheel_speed_mps > grounded.wheel_speed_mps > 0.2
    assert run(lifted, nigel_outputs(0, 0), 2.0).wheel_speed_mps == 0.0


def test_a_car_let_down_with_turning_wheels_sets_out():
    plant = run(Plant(f1tenth(), 1), NEUTRAL, 0.6)
    plant.is_on_stand = True
    run(plant, f1tenth_outputs(0, 60_000), 1.0)
    plant.is_on_stand = False
    run(plant, NEUTRAL, 0.1)
    assert 0.05 < plant.truth.vx_mps < plant.wheel_speed_mps + 0.01


@pytest.mark.parametrize("pushed_n", [-8.0, 8.0])
def test_a_pushed_car_gains_what_newton_says(pushed_n):
    plant = Plant(f1tenth(drive={"drag_n_per_mps2": 0.0}), 1)
    plant.pushed_n = pushed_n
    run(plant, NEUTRAL, 0.5)
    friction_n = 1.5 + 0.015 * 3.47 * 9.81
    expected_mps = (8.0 - friction_n) / (3.47 + 0.34) * 0.5
    assert abs(plant.truth.vx_mps) == pytest.approx(expected_mps, rel=0.02)
    assert plant.truth.vx_mps * pushed_n > 0


def test_a_push_weaker_than_friction_moves_nothing():
    plant = Plant(f1tenth(), 1)
    plant.pushed_n = 1.9
    assert run(plant, NEUTRAL, 0.5).truth.values() == (0.0,) * 6


def test_a_stuck_throttle_drives_whatever_is_put_out_while_there_is_power():
    plant = Plant(f1tenth(), 1)
    plant.stuck_throttle = 0.2
    assert run(plant, NEUTRAL, 1.0).truth.vx_mps > 1.0
    before_mps = plant.truth.vx_mps
    assert run(plant, NEUTRAL, 0.5, enable=False).truth.vx_mps < before_mps


def test_a_stuck_servo_keeps_its_angle():
    plant = run(Plant(f1tenth(), 1), f1tenth_outputs(0.1, 0), 0.3)
    plant.is_steering_stuck = True
    assert run(plant, f1tenth_outputs(-0.3, 0), 0.3).steer_rad == pytest.approx(0.1)
