"""The model that needs no log: steered to the right a car goes as to the left, mirrored."""

from itertools import pairwise
from math import log

import pytest

from calibration.bayesian_fit.run_effects import PredictedPath, RunEffects, pieces
from calibration.logs.run import Commands, PoseTrack, Run
from calibration.simulation.command_queue import CommandChange
from calibration.simulation.kinematic import MOST_TURN_RAD, KinematicNumbers, _path, kinematic
from calibration.simulation.plant_numbers import plant_parameters
from calibration.simulation.poses import Poses
from host_bridge import config
from tests.support.evidence import some

np = pytest.importorskip("numpy")
CAR = KinematicNumbers(2.0, 0.4, 0.0)


def way(steering_norm: float) -> list[tuple[float, float, float, float]]:
    body = plant_parameters(config.load_vehicle("f1tenth")).body
    return _path([CommandChange(0.0, 0.5, steering_norm)], CAR, body, 1.0)


def test_a_bend_to_the_right_has_pieces_as_short_as_one_to_the_left():
    left, right = way(1.0), way(-1.0)
    assert [(t_s, x_m, -y_m, -yaw_rad) for t_s, x_m, y_m, yaw_rad in right] == [
        pytest.approx(row) for row in left
    ]
    turned = [abs(after[3] - row[3]) for row, after in pairwise(right)]
    assert max(some(turned)) <= MOST_TURN_RAD


def test_it_goes_on_until_the_last_sample_of_the_odometry():
    times_s = np.arange(5) * 0.2
    on = Commands("drive.csv", "", np.zeros(2), np.array([False, True]), np.array([0.5, 0.0]))
    still = PoseTrack("odometry.csv", "", times_s, *np.zeros((3, 5)))
    body = plant_parameters(config.load_vehicle("f1tenth")).body
    assert kinematic(Run(on, still), CAR, body).x_m == pytest.approx(times_s * 1.0)  # half of 2 m/s


def test_of_a_car_that_never_drives_there_is_no_piece():
    still = np.zeros(3)
    for found in some(pieces(PredictedPath.of(np.arange(3) * 0.1, Poses(still, still, still)))):
        assert found.shape == (3, 3, 0)


def test_a_run_may_be_faster_trimmed_to_the_left_and_later_than_the_fitted_car():
    fitted = {"full_effort_mps": 2.0, "steer_trim_norm": 0.1, "queue_delay_s": 0.05, "grip": 0.9}
    effects = RunEffects(speed=log(1.1), trim_norm=0.02, delay_s=0.01)
    assert effects.applied(fitted) == pytest.approx(
        {"full_effort_mps": 2.2, "steer_trim_norm": 0.12, "queue_delay_s": 0.06, "grip": 0.9}
    )
