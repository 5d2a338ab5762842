"""The whole plant, driven through its eight outputs only."""

from dataclasses import replace
from math import hypot, isfinite, tan
from random import Random

import pytest

from sim_mock.plant.body import GRAVITY_MPS2
from sim_mock.plant.parameters import Patch
from sim_mock.plant.vehicle_plant import Plant
from tests.sim_mock.plant.cars import (
    NEUTRAL,
    f1tenth,
    f1tenth_outputs,
    nigel,
    nigel_outputs,
)
from tests.support.evidence import every

DT_S = 1e-3
FULL_BRAKE = f1tenth_outputs(0.0, -500_000)


def run(plant, outputs, seconds, enable=True, dt_s=DT_S):
    for _ in range(round(seconds / dt_s)):
        plant.step(dt_s, outputs, enable)
    return plant


def armed_f1tenth(parameters=None, dt_s=DT_S):
    return run(Plant(parameters or f1tenth(), 1), NEUTRAL, 0.6, dt_s=dt_s)


def at_speed(plant, speed_mps, dt_s=DT_S):
    while plant.truth.vx_mps < speed_mps:
        plant.step(dt_s, f1tenth_outputs(0.0, 200_000), True)
    return plant


def stopped_m(plant, outputs, enable=True, dt_s=DT_S):
    """Distance to standstill."""
    x, y = plant.truth.x_m, plant.truth.y_m
    while plant.truth.vx_mps > 0.0:
        plant.step(dt_s, outputs, enable)
    return hypot(plant.truth.x_m - x, plant.truth.y_m - y)


@pytest.mark.parametrize("enable", [True, False])
def test_a_parked_car_does_not_move_by_the_last_bit(enable):
    for plant, still in ((Plant(f1tenth(), 1), NEUTRAL), (Plant(nigel(), 1), nigel_outputs(0, 0))):
        run(plant, still, 5.0, enable)
        assert plant.truth.values() == (0.0,) * 6
        assert plant.counts() == (0, 0)


def test_steering_at_standstill_turns_wheels_only():
    plant = Plant(nigel(), 1)
    run(plant, nigel_outputs(0.4, 0), 1.0)
    assert plant.steer_rad == pytest.approx(0.4, abs=1e-5)
    assert plant.steer_rear_rad == pytest.approx(-0.4, abs=1e-5)
    assert plant.truth.values() == (0.0,) * 6


def test_without_enable_nothing_drives():
    assert run(Plant(nigel(), 1), nigel_outputs(0, 10_000), 1.0, False).truth.x_m == 0.0
    assert run(armed_f1tenth(), f1tenth_outputs(0, 300_000), 1.0, False).truth.x_m == 0.0


def test_nigel_reaches_its_published_speed():
    plant = run(Plant(nigel(), 1), nigel_outputs(0, 10_000), 2.0)
    assert plant.truth.vx_mps == pytest.approx(0.442, abs=0.002)


def test_nigel_circles_on_half_the_radius_that_front_steering_gives():
    plant = run(Plant(nigel(), 1), nigel_outputs(0.2, 10_000), 3.0)
    curvature_per_m = plant.truth.yaw_rate_radps / plant.truth.vx_mps
    assert curvature_per_m == pytest.approx(2 * tan(0.2) / 0.14155, rel=0.02)


def test_backward_is_forward_the_other_way_round():
    ahead = run(Plant(nigel(), 1), nigel_outputs(0, 5_000), 1.0)
    back = run(Plant(nigel(), 1), nigel_outputs(0, -5_000), 1.0)
    # The axles' loads differ from forward to backward by the lean, so slip at the start does too.
    assert back.truth.x_m == pytest.approx(-ahead.truth.x_m, rel=1e-3)
    assert back.truth.vx_mps == pytest.approx(-ahead.truth.vx_mps, rel=1e-6)


@pytest.mark.parametrize("mu", [0.2, 0.5, 1.0489])
@pytest.mark.parametrize("speed_mps", [0.5, 1.5, 3.0, 6.0])
def test_braking_distance_is_never_shorter_than_friction_allows(mu, speed_mps):
    plant = armed_f1tenth(f1tenth(tyre={"mu": mu}))
    at_speed(plant, speed_mps)
    least_m = plant.truth.vx_mps**2 / (2 * mu * GRAVITY_MPS2)
    assert stopped_m(plant, FULL_BRAKE) >= least_m
    assert run(plant, FULL_BRAKE, 2.0).truth.vx_mps == 0.0  # and it does not go backward then


def test_hard_braking_uses_nine_tenths_of_the_friction_where_it_slides():
    plant = at_speed(armed_f1tenth(f1tenth(tyre={"mu": 0.3}, drive={"drag_n_per_mps2": 0.0})), 6.0)
    start = plant.truth.vx_mps
    run(plant, FULL_BRAKE, 0.5)
    assert plant.is_sliding
    assert plant.wheel_speed_mps < 0.5 * plant.truth.vx_mps
    assert start - plant.truth.vx_mps == pytest.approx(0.9 * 0.3 * GRAVITY_MPS2 * 0.5, rel=0.05)


def test_braking_stops_shorter_than_coasting():
    braked_m = stopped_m(at_speed(armed_f1tenth(), 3.0), FULL_BRAKE)
    coasted_m = stopped_m(at_speed(armed_f1tenth(), 3.0), NEUTRAL)
    disabled_m = stopped_m(at_speed(armed_f1tenth(), 3.0), f1tenth_outputs(0, 300_000), False)
    assert braked_m < 0.25 * coasted_m
    assert disabled_m == pytest.approx(coasted_m, rel=1e-6)


def test_air_drag_slows_the_car_and_all_that_turns_with_it():
    plant = at_speed(armed_f1tenth(f1tenth(drive={"drag_n_per_mps2": 1.0})), 3.0)
    run(plant, NEUTRAL, 0.2)  # until the wheels roll
    speed_mps = plant.truth.vx_mps
    run(plant, NEUTRAL, 0.01)
    force_n = 1.5 + 0.015 * 3.47 * GRAVITY_MPS2 + speed_mps**2
    expected = 0.01 * force_n / (3.47 + 0.34)
    assert speed_mps - plant.truth.vx_mps == pytest.approx(expected, rel=0.02)


@pytest.mark.parametrize("make", [f1tenth, nigel])
def test_a_car_that_stopped_in_a_turn_rests_to_the_last_bit(make):
    plant = armed_f1tenth() if make is f1tenth else Plant(nigel(), 1)
    outputs = f1tenth_outputs if make is f1tenth else nigel_outputs
    run(plant, outputs(0.3, 40_000 if make is f1tenth else 7_000), 1.0)
    speeds = {abs(run(plant, outputs(0.3, 0), DT_S).truth.vx_mps) for _ in range(6000)}
    assert min(speeds - {0.0}) > 1e-6  # it stops, it does not fade away
    rest = plant.truth.values()
    assert rest[3:] == (0.0, 0.0, 0.0)
    assert run(plant, outputs(-0.3, 0), 1.0).truth.values() == rest
    assert abs(rest[2]) > 0.1


def test_signal_loss_drives_on_for_the_hold_time_then_coasts():
    plant = run(armed_f1tenth(), f1tenth_outputs(0, 60_000), 0.3)
    before_mps = plant.truth.vx_mps
    faster_mps = run(plant, (0,) * 8, 0.1).truth.vx_mps
    assert faster_mps > before_mps + 0.05
    assert run(plant, (0,) * 8, 0.1).truth.vx_mps < faster_mps


def test_brake_before_reverse_as_a_driver_meets_it():
    plant = at_speed(armed_f1tenth(), 1.0)
    back = f1tenth_outputs(0.0, -200_000)
    run(plant, back, 5.0)
    held_at_m = plant.truth.x_m
    assert plant.truth.vx_mps == 0.0
    run(plant, NEUTRAL, 0.2)
    run(plant, back, 0.5)
    assert plant.truth.x_m < held_at_m - 0.05


@pytest.mark.parametrize("dt_s", [2e-4, 5e-3])
def test_stopping_distance_does_not_hang_on_the_step_size(dt_s):
    distances_m = [
        stopped_m(at_speed(armed_f1tenth(dt_s=dt), 3.0, dt), FULL_BRAKE, dt_s=dt)
        for dt in (1e-3, dt_s)
    ]
    assert distances_m[1] == pytest.approx(distances_m[0], rel=0.03)


def test_left_and_right_drive_mirror_images():
    left = run(armed_f1tenth(), f1tenth_outputs(0.2, 100_000), 3.0).truth.values()
    right = run(armed_f1tenth(), f1tenth_outputs(-0.2, 100_000), 3.0).truth.values()
    mirrored = (right[0], -right[1], -right[2], right[3], -right[4], -right[5])
    assert left == pytest.approx(mirrored, abs=1e-9)
    assert abs(left[2]) > 0.5


def test_fast_in_a_turn_it_slides_wide_of_the_kinematic_path():
    plant = at_speed(armed_f1tenth(), 6.0)
    run(plant, f1tenth_outputs(0.3, 200_000), 1.0)
    truth = plant.truth
    assert abs(truth.vx_mps * truth.yaw_rate_radps) < 1.0489 * GRAVITY_MPS2 * 1.05
    assert truth.yaw_rate_radps < 0.8 * truth.vx_mps * tan(0.3) / 0.3302


def test_a_slippery_patch_lengthens_the_stop_only_where_it_lies():
    dry_m = stopped_m(at_speed(armed_f1tenth(), 3.0), FULL_BRAKE)
    here = f1tenth().with_patches((Patch(0.0, 0.0, 50.0, 0.2),))
    there = f1tenth().with_patches((Patch(0.0, 100.0, 50.0, 0.2),))
    assert stopped_m(at_speed(armed_f1tenth(here), 3.0), FULL_BRAKE) > 1.5 * dry_m
    assert stopped_m(at_speed(armed_f1tenth(there), 3.0), FULL_BRAKE) == dry_m


def test_a_payload_makes_the_twin_slower_off_the_mark():
    loaded_car = f1tenth().with_payload(1.5, -0.05)
    start = f1tenth_outputs(0, 60_000)
    bare, loaded = (run(armed_f1tenth(p), start, 0.5) for p in (f1tenth(), loaded_car))
    assert loaded.truth.x_m < 0.9 * bare.truth.x_m


@pytest.mark.parametrize("make", [f1tenth, nigel])
def test_encoders_count_the_travel_to_one_count(make):
    """Straight, back and in a curve, against the path of the wheels' truth."""
    p = make()
    plant, is_nigel = Plant(p, 1), make is nigel
    outputs = nigel_outputs if is_nigel else f1tenth_outputs
    run(plant, outputs(0.0, 0), 0.6)
    travel_m = turn_rad = 0.0
    for steer_rad in (0.0, 0.2, -0.1):
        for _ in range(1500):
            before = plant.wheel_speed_mps
            yaw = plant.truth.yaw_rad
            plant.step(DT_S, outputs(steer_rad, 4_000 if is_nigel else 80_000), True)
            travel_m += 0.5 * DT_S * (before + plant.wheel_speed_mps)
            turn_rad += plant.truth.yaw_rad - yaw
    per_count_m = 2 * 3.141592653589793 * p.drive.wheel_radius_m / p.encoder.counts_per_rev
    apart_m = 0.5 * p.body.track_m * turn_rad if is_nigel else 0.0
    left, right = plant.counts()
    assert left * per_count_m == pytest.approx(travel_m - apart_m, abs=per_count_m + 2e-4)
    assert right * per_count_m == pytest.approx(travel_m + apart_m, abs=per_count_m + 2e-4)


def test_straight_travel_is_what_the_encoders_say():
    plant = run(armed_f1tenth(), f1tenth_outputs(0, 60_000), 3.0)
    per_count_m = 2 * 3.141592653589793 * 0.058 / 168
    assert plant.counts()[0] * per_count_m == pytest.approx(plant.truth.x_m, abs=per_count_m)


def test_backward_travel_counts_down_through_zero():
    plant = run(Plant(nigel(), 1), nigel_outputs(0, -5_000), 1.0)
    left, right = plant.counts()
    assert left == right
    assert (1 << 30) - left == pytest.approx(-plant.truth.x_m / 1.06356e-4, abs=100)


def test_same_seed_same_car_to_the_last_bit():
    ends = []
    for seed in (1, 1, 2):
        plant = Plant(nigel(), seed)
        samples = []
        for i in range(1000):
            plant.step(DT_S, nigel_outputs(0.2, 10 * i), True)
            samples.append((plant.yaw_rate_mrad_s, plant.accel_x_mm_s2, plant.accel_y_mm_s2))
        ends.append((plant.truth.values(), samples, plant.counts(), plant.battery_mv))
    assert ends[0] == ends[1]
    assert ends[0][1] != ends[2][1]
    assert ends[0][0] == ends[2][0]  # noise is in the sensors, not in the car


def test_accelerometer_feels_the_turn_to_the_left_as_left():
    quiet = dict.fromkeys(("yaw_rate_noise_radps", "yaw_rate_bias_radps"), 0.0)
    quiet |= dict.fromkeys(("accel_noise_mps2", "accel_bias_mps2"), 0.0)
    plant = at_speed(armed_f1tenth(f1tenth(imu=quiet)), 2.0)
    run(plant, f1tenth_outputs(0.15, 60_000), 1.0)
    truth = plant.truth
    assert plant.yaw_rate_mrad_s == pytest.approx(1000 * truth.yaw_rate_radps, rel=0.02)
    side_mm_s2 = 1000 * truth.vx_mps * truth.yaw_rate_radps
    assert plant.accel_y_mm_s2 == pytest.approx(side_mm_s2, rel=0.05)
    assert side_mm_s2 > 500


def test_linear_tyres_have_no_limit_and_fiala_tyres_do():
    linear = f1tenth(tyre={"law": "linear"})
    for parameters, is_over in ((linear, True), (f1tenth(), False)):
        plant = at_speed(armed_f1tenth(replace(parameters, mu=0.5)), 5.0)
        side_mps2 = []
        for _ in range(500):
            plant.step(DT_S, f1tenth_outputs(0.3, 0), True)
            side_mps2.append(plant.accel_y_mm_s2 / 1000)
        assert (max(side_mps2) > 1.5 * 0.5 * GRAVITY_MPS2) is is_over


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("make", [f1tenth, nigel])
def test_no_sequence_of_outputs_breaks_the_car(make, seed):
    """Any pulse, duty, loss and enable, held for a while, at any step: it stays a car."""
    random = Random(seed)
    plant = armed_f1tenth() if make is f1tenth else Plant(nigel(), seed)
    fastest_mps = 18.5 if make is f1tenth else 0.5  # battery over back EMF, drawn from the gears
    for _ in range(200):
        pulses = [random.choice((0, random.randrange(900_000, 2_100_000))) for _ in range(4)]
        outputs = [*pulses, *(random.randrange(-10_000, 10_001) for _ in range(4))]
        run(plant, outputs, 0.2, random.random() < 0.8, random.choice((5e-4, 1e-3, 5e-3)))
        assert every(map(isfinite, plant.truth.values()))
        assert hypot(plant.truth.vx_mps, plant.truth.vy_mps) < fastest_mps
        assert 0 <= plant.counts()[0] < 1 << 30


@pytest.mark.parametrize("dt_s", [1e-4, 1e-3, 5e-3])
@pytest.mark.parametrize("steer_rad", [0.3, 0.4, 0.52])
def test_a_tight_bend_at_full_duty_is_steady_to_the_last_step(dt_s, steer_rad):
    """Axles that are steered against each other roll at speeds of their own."""
    plant = run(Plant(nigel(), 1), nigel_outputs(steer_rad, 10_000), 1.5, dt_s=dt_s)
    speeds = []
    for _ in range(50):
        plant.step(dt_s, nigel_outputs(steer_rad, 10_000), True)
        speeds.append(plant.truth.vx_mps)
    assert speeds[-1] > 0.3
    assert abs(plant.truth.yaw_rate_radps) > 1.0
    assert max(speeds) - min(speeds) < 1e-5
