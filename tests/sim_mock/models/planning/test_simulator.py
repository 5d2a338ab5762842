"""Where a car starts, and the noise of what is measured."""

from statistics import mean, stdev

import pytest

from sim_mock.models.planning.model_types import make_car
from sim_mock.models.planning.motion import DriverCommand
from sim_mock.models.planning.simulator import Simulator, SimulatorSettings, make_simulator

AHEAD = DriverCommand(vx_mps=1.0)


def made(seed=1, **given):
    car = make_car("IDEAL_STEER_VEL", {}, 2.79, 0.1)
    return Simulator(car, SimulatorSettings.from_mapping(given), seed)


def test_by_default_nothing_moves_until_an_initial_pose_is_given():
    simulator = made(add_measurement_noise=False)
    simulator.step(0.1, AHEAD)
    assert (simulator.truth, simulator.measured) == (None, None)
    simulator.initialize(3.0, 4.0, 0.0, 0.5)
    assert simulator.truth.vx_mps == 0.5
    simulator.step(0.1, AHEAD)
    assert simulator.truth[:3] == pytest.approx((3.1, 4.0, 0.0))


def test_from_the_origin_it_drives_at_once_and_can_be_put_elsewhere():
    simulator = made(initialize_source="ORIGIN", add_measurement_noise=False)
    assert tuple(simulator.truth) == (0.0,) * 8
    simulator.step(0.1, AHEAD)
    assert simulator.truth.x_m == pytest.approx(0.1)
    simulator.initialize(9.0, 0.0, 0.0)
    assert simulator.truth.x_m == 9.0


def test_without_noise_the_measured_is_the_truth():
    simulator = made(initialize_source="ORIGIN", add_measurement_noise=False)
    simulator.step(0.1, AHEAD)
    assert simulator.measured == simulator.truth


def errors(count, seed=1, **given):
    simulator = made(seed, initialize_source="ORIGIN", **given)
    for _ in range(count):
        simulator.step(0.1, AHEAD)
        pairs = zip(simulator.measured, simulator.truth, strict=True)
        yield [measured - true for measured, true in pairs]


def test_noise_has_the_standard_deviation_of_each_parameter():
    given = {
        "pos_noise_stddev": 0.5,
        "rpy_noise_stddev": 0.04,
        "vel_noise_stddev": 0.3,
        "angvel_noise_stddev": 0.2,
        "steer_noise_stddev": 0.1,
    }
    x, y, yaw, vx, vy, ax, wz, steer = zip(*errors(4000, **given), strict=True)
    spreads = [stdev(column) for column in (x, y, yaw, vx, wz, steer)]
    # 4000 samples tell a standard deviation to 1.1 %; five of those.
    assert spreads == pytest.approx([0.5, 0.5, 0.04, 0.3, 0.2, 0.1], rel=0.06)
    assert abs(mean(x)) < 5 * 0.5 / 4000**0.5
    assert not any(vy + ax)
    assert mean(a * b for a, b in zip(x, y, strict=True)) == pytest.approx(0.0, abs=0.02)


def test_default_noise_is_the_documentations():
    x, _, yaw, vx, _, _, wz, steer = zip(*errors(2000), strict=True)
    assert [stdev(column) for column in (x, yaw, steer)] == pytest.approx(
        [0.01, 0.0001, 0.0001], rel=0.08
    )
    assert max(stdev(vx), stdev(wz)) < 1e-12


def test_one_flat_file_of_parameters_makes_a_simulator():
    given = {
        "vehicle_model_type": "DELAY_STEER_VEL",
        "initialize_source": "ORIGIN",
        "add_measurement_noise": False,
        "origin_frame_id": "map",
        "vel_time_delay": 0.2,
    }
    simulator = make_simulator(given, 2.79, 0.1, 1)
    speeds = []
    for _ in range(4):
        simulator.step(0.1, AHEAD)
        speeds.append(simulator.measured.vx_mps > 0.0)
    assert speeds == [False, False, True, True]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"vehicle_model_type": "FLYING"}, "vehicle_model_type: expected"),
        ({"vel_limm": 1.0}, "vel_limm: unknown"),
        ({"add_measurement_noise": "yes"}, "add_measurement_noise: expected true or false"),
    ],
)
def test_a_flat_file_that_cannot_be_is_refused(given, words):
    with pytest.raises(ValueError, match=words):
        make_simulator(given, 2.79, 0.1, 1)


def test_the_same_seed_gives_the_same_noise_and_another_another():
    assert list(errors(5, seed=7)) == list(errors(5, seed=7)) != list(errors(5, seed=8))


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"initialize_source": "HERE"}, "initialize_source: expected ORIGIN or"),
        ({"pos_noise_stddev": -1.0}, "pos_noise_stddev: expected"),
        ({"rpy_noise_stddev": -1.0}, "rpy_noise_stddev: expected"),
        ({"steer_noise_stddev": float("inf")}, "steer_noise_stddev: expected"),
        ({"vel_noise_stddev": "much"}, "vel_noise_stddev: expected"),
        ({"pos_noise_stddev": True}, "pos_noise_stddev: expected"),
        ({"pos_noise": 1.0}, "pos_noise: unknown"),
    ],
)
def test_settings_that_cannot_be_are_refused(given, words):
    with pytest.raises(ValueError, match=words):
        SimulatorSettings.from_mapping(given)
