"""What each parameter does to the twin, by itself."""

import numpy as np
import pytest

from calibration.bayesian_fit.parameters import known_values
from calibration.simulation import twin
from calibration.simulation.command_queue import CommandChange
from calibration.simulation.kinematic import kinematic, kinematic_numbers
from calibration.simulation.plant_numbers import plant_parameters, speed_lag_s, steady_speed_mps
from calibration.simulation.poses import as_odometry
from calibration.simulation.twin import Twin, predict
from host_bridge.sharing.services import make_host
from sim_mock.plant.servo import CalibrationCurve
from tests.calibration.drives import NIGEL, TRUTH, made_run
from tests.support.evidence import some

TWIN = Twin(NIGEL)
KNOWN = known_values(NIGEL)


def driven(values, steering_norm, until_s=4.0, step_s=0.001):
    schedule = [CommandChange(0.0, 1.0, steering_norm)]
    times_s = np.arange(0.0, until_s, 0.01)
    return times_s, TWIN.drive(TWIN.tuned(values), schedule, times_s, step_s)


def test_known_values_leave_the_plant_as_the_vehicle_file_has_it():
    ours, theirs = TWIN.tuned(KNOWN), plant_parameters(NIGEL)
    assert ours.battery.emf_v == pytest.approx(theirs.battery.emf_v)
    assert ours.drive.rotating_mass_kg == pytest.approx(theirs.drive.rotating_mass_kg)
    for our, their in some(zip(ours.steering, theirs.steering, strict=True)):
        commanded_rad, pulses_ns = np.array(their.curve).T
        wheels = CalibrationCurve(our.curve)
        assert [*map(wheels.angle_rad, pulses_ns)] == pytest.approx(commanded_rad, abs=1e-4)
    assert ours.body == theirs.body


def test_speed_and_lag_are_those_that_were_asked_for():
    values = {**KNOWN, "full_effort_mps": 0.35, "speed_lag_s": 0.3}
    assert steady_speed_mps(TWIN.tuned(values)) == pytest.approx(0.35)
    assert speed_lag_s(TWIN.tuned(values)) == pytest.approx(0.3)
    times_s, poses = driven(values, 0.0)
    speed_mps = np.gradient(poses.x_m, times_s)
    assert speed_mps[-10] == pytest.approx(0.35, rel=0.002)  # air drag is left out
    at_lag = np.interp(0.3, times_s, speed_mps)
    assert at_lag == pytest.approx(0.35 * (1.0 - np.exp(-1.0)), rel=0.02)


def test_the_trim_drives_straight_and_its_mirror_mirrors():
    values = {**KNOWN, "steer_trim_norm": 0.2}
    assert driven(values, 0.2)[1].yaw_rad == pytest.approx(0.0, abs=2e-3)
    left, right = (driven(values, 0.2 + side)[1].yaw_rad[-1] for side in (0.1, -0.1))
    assert left > 1.0
    assert left == pytest.approx(-right, rel=0.01)


def straight(gain):
    """A linkage without a bend."""
    return {**KNOWN, "steer_gain": gain, "steer_lock_ratio": gain}


def test_half_the_gain_is_half_the_bend():
    whole, half = (driven(straight(gain), 0.1)[1].yaw_rad[-1] for gain in (1.0, 0.5))
    assert half == pytest.approx(0.5 * whole, rel=0.01)


def test_a_leap_over_what_no_longer_changes_ends_where_steps_end(monkeypatch):
    """And the steps are those of a replay: a fit is not off by its own."""
    leapt = driven(TRUTH, 0.4)[1]
    monkeypatch.setattr(twin, "QUIET_S", 100.0)
    stepped = driven(TRUTH, 0.4)[1]
    apart_m = np.hypot(leapt.x_m - stepped.x_m, leapt.y_m - stepped.y_m)
    assert 0.0 < apart_m.max() < 1e-4
    assert np.abs(leapt.yaw_rad - stepped.yaw_rad).max() < 1e-4


def test_an_odometry_ahead_of_the_centre_swings_out_and_one_turned_sees_a_crab():
    own = driven(KNOWN, 0.1)[1]
    ahead = as_odometry(own, (0.0, 0.0, 0.0), 0.0, 0.1)
    assert ahead.y_m - own.y_m == pytest.approx(0.1 * np.sin(own.yaw_rad))
    turned = as_odometry(driven(KNOWN, 0.0)[1], (1.0, 2.0, 0.5), 0.1, 0.0)
    course_rad = np.arctan2(turned.y_m[-1] - 2.0, turned.x_m[-1] - 1.0)
    assert course_rad == pytest.approx(0.6, abs=1e-3)
    assert turned.yaw_rad == pytest.approx(0.5, abs=1e-3)


def test_a_drive_starts_at_the_start_pose_and_stands_until_the_queue_opens():
    run = made_run(0.3, TRUTH, seed=3, spread=0.005)
    poses = predict(NIGEL, TRUTH, run)
    early = run.odometry.t_s < 2.5 + TRUTH["queue_delay_s"]
    x_m, y_m, yaw_rad = run.start_pose()
    assert poses.x_m[early] == pytest.approx(x_m)
    assert poses.y_m[early] == pytest.approx(y_m)
    assert poses.yaw_rad[early] == pytest.approx(yaw_rad)
    assert np.hypot(poses.x_m[-1] - x_m, poses.y_m[-1] - y_m) > 0.5


def test_the_kinematic_model_drives_the_circle_of_its_geometry():
    """Both axles steered by d, opposite ways: 2 tan d / L of turn per metre."""
    run = made_run(0.3, KNOWN, seed=0, spread=0.0)
    poses = kinematic(run, kinematic_numbers(NIGEL), plant_parameters(NIGEL).body)
    throttle_s = run.commands.t_s[-2] - run.commands.t_s[1]
    turn_per_m = 2.0 * np.tan(0.3 * NIGEL.steer_max_rad) / NIGEL.wheelbase_m
    assert poses.yaw_rad[-1] == pytest.approx(turn_per_m * 0.44 * throttle_s, rel=1e-3)


def test_twin_and_kinematic_model_agree_where_nothing_lags_or_slips():
    """The known car starts within 0.03 s and hardly slips at a small angle."""
    run = made_run(0.02, KNOWN, seed=0, spread=0.0)
    car = kinematic_numbers(NIGEL)._replace(speed_mps=KNOWN["full_effort_mps"])
    poses = kinematic(run, car, plant_parameters(NIGEL).body)
    ours = predict(NIGEL, KNOWN, run)
    distance_m = np.hypot(poses.x_m - ours.x_m, poses.y_m - ours.y_m)
    assert distance_m.max() < 0.04  # 0.03 s and a servo's dead time, at 0.44 m/s
    assert distance_m[-1] < 0.005
    assert poses.yaw_rad[-1] == pytest.approx(ours.yaw_rad[-1], rel=0.02)


@pytest.mark.parametrize("name", ["f1tenth", "f1tenth_vesc"])
def test_a_car_with_a_speed_controller_comes_to_the_speed_that_is_commanded(name):
    vehicle = make_host().vehicles.load(name)
    twin, times_s = Twin(vehicle), np.linspace(0.0, 4.0, 41)
    share = 1.0 / vehicle.speed_max_mps
    schedule = [CommandChange(0.0, share, 0.0), CommandChange(3.0, share, 0.2)]
    poses = twin.drive(twin.tuned(known_values(vehicle)), schedule, times_s, 0.001)
    speed_mps = np.gradient(poses.x_m, times_s)
    assert speed_mps[28] == pytest.approx(1.0, rel=0.05)
    assert abs(poses.yaw_rad[30]) < 0.01
    assert poses.yaw_rad[-1] > 0.1


def test_a_car_that_brakes_stands_sooner_than_one_that_follows_a_target_of_0():
    vehicle = make_host().vehicles.load("f1tenth_vesc")
    twin, times_s = Twin(vehicle), np.linspace(0.0, 5.0, 51)
    schedule = [CommandChange(0.0, 2.0 / vehicle.speed_max_mps, 0.0), CommandChange(3.0, 0.0, 0.0)]
    plant = twin.tuned(known_values(vehicle))
    followed = twin.drive(plant, schedule, times_s, 0.001)
    braked = twin.drive(plant, schedule, times_s, 0.001, brakes=[(3.0, 9.0)])
    assert braked.x_m[30] == followed.x_m[30]
    assert braked.x_m[-1] < followed.x_m[-1] - 0.02
